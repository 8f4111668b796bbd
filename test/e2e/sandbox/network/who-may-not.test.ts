import { bash } from "@gennai/testkit/scripted-steps";
import { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

test("no command reaches the server of Gennai, and nobody is asked about it", async () => {
  const outside = new TestOutside();
  await using server = await networked(outside, ["true"]);
  const port = new URL(server.url).port;
  await using inner = await startTestServer({
    script: [
      `curl -sS --max-time 10 http://127.0.0.1:${port}/health`,
      `curl -sS --max-time 10 --noproxy '' http://127.0.0.1:${port}/health`,
    ].map((command) => ({ steps: [bash(command), { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
  await using session = await AskedSession.start(inner);
  for (const _ of [1, 2]) {
    const { questions: asked, output } = await session.turn("once");
    expect(asked).toEqual([]);
    expect(output).not.toContain("exit code 0");
  }
});

test("where nobody can be asked, nothing is let through, and the record says so", async () => {
  using outside = new TestOutside();
  const pages = await outside.pages("data.example", 80, () => ({ body: "x" }));
  await using server = await networked(outside, ["curl -sS --max-time 20 http://data.example/"]);
  const events = await runTurn(server, await startSession(server), "go");
  const [result] = eventsOf(events, "toolResult");
  expect(result?.output).toContain("nobody can be asked");
  expect(result?.output).toContain("data.example:80");
  expect(pages).toEqual([]);
  await server.running[Symbol.asyncDispose]();
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toMatch(/"connections":\[[^\]]*"host":"data\.example"[^\]]*"state":"refused"/);
});
