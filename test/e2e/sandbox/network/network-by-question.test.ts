import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { leftovers } from "../staged/staging.ts";
import { networked } from "./networked.ts";

test("a command gets exactly the host and port that a person let it reach, and nothing of its first run stays", async () => {
  using outside = new TestOutside();
  const asked = await outside.pages("data.example", 443, () => ({ body: "never: this is no TLS" }));
  const pages = await outside.pages("data.example", 8080, () => ({ body: "forty-two" }));
  await using server = await networked(outside, [
    "echo run >> runs.txt; curl -sS --max-time 20 http://data.example:8080/answer -o answer.txt",
  ]);
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("once");
  expect(questions).toHaveLength(1);
  expect(questions[0]?.title).toContain("reach data.example:8080?");
  expect(questions[0]?.impactStatement).toContain("could send everything there");
  expect(questions[0]?.offeredScopes).toEqual([ConfirmationScope.ONCE]);
  expect(pages).toEqual(["GET data.example:8080 /answer"]);
  expect(asked).toEqual([]);
  expect(outside.asked).toEqual(["data.example"]);
  expect(await server.workspace.read("answer.txt")).toBe("forty-two");
  expect(await server.workspace.read("runs.txt")).toBe("run\n");
  expect(output).toMatch(/\[reached data\.example:8080: \d+ bytes sent, \d+ received\]/);
  expect(leftovers(server)).toEqual([]);
  await server.running[Symbol.asyncDispose]();
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toContain('"reaches":["data.example:8080"]');
  expect(ledger).toMatch(/"connections":\[[^\]]*"address":"93\.184\.216\.34"[^\]]*"state":"allowed"/);
  expect(ledger).toMatch(/"connections":\[[^\]]*"host":"data\.example"[^\]]*"state":"refused"/);
});

test("a yes for the workspace holds in a later session, until it is taken back", async () => {
  using outside = new TestOutside();
  const pages = await outside.pages("data.example", 80, () => ({ body: "one" }));
  const command = "curl -sS --max-time 20 http://data.example/1";
  await using server = await networked(outside, [command]);
  {
    await using session = await AskedSession.start(server);
    expect((await session.turn("workspace")).questions).toHaveLength(1);
  }
  await using later = await AskedSession.start(server);
  expect((await later.turn()).questions).toEqual([]);
  expect(pages).toHaveLength(2);
  writeFileSync(join(server.stateDir, "accepted-connections.json"), "{}\n");
  await using last = await AskedSession.start(server);
  expect((await last.turn("no")).questions).toHaveLength(1);
  expect(pages).toHaveLength(2);
});

test("a private address is let through only by a question that says so", async () => {
  using outside = new TestOutside();
  const inner = await outside.pages("intern.example", 80, () => ({ body: "inner" }), "10.1.2.3");
  await using server = await networked(outside, ["curl -sS --max-time 20 http://intern.example/"]);
  await using session = await AskedSession.start(server);
  const { questions: asked } = await session.turn("once", "no");
  expect(asked).toHaveLength(2);
  expect(asked[1]?.impactStatement).toContain("intern.example leads to 10.1.2.3, in the private network");
  expect(inner).toEqual([]);
  await using again = await AskedSession.start(server);
  expect((await again.turn("once", "once")).output).toContain("inner");
});
