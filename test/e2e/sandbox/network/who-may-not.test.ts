import { spawn } from "node:child_process";
import { once } from "node:events";
import { bash } from "@gennai/testkit/scripted-steps";
import { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

/** A service of this machine that belongs to another program. */
async function service() {
  const program = `
    const server = require("node:net").createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => { console.log(bytes.toString().split("\\r\\n")[0]); socket.end("HTTP/1.0 200 OK\\r\\n\\r\\nrow"); });
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  child.stdout.on("data", (text: Buffer) => lines.push(...text.toString().trim().split("\n")));
  await once(child.stdout, "data");
  return { port: Number(lines[0]), lines, [Symbol.dispose]: () => void child.kill() };
}

test("a service on this machine's loopback is the same question, for that port alone", async () => {
  using database = await service();
  using other = await service();
  await using server = await startTestServer({
    script: [
      `curl -sS --max-time 20 http://127.0.0.1:${database.port}/one`,
      `curl -sS --max-time 20 http://localhost:${database.port}/two; curl -sS --max-time 5 --proxy http://127.0.0.53:61080 --noproxy '' http://127.0.0.1:${other.port}/three`,
    ].map((command) => ({ steps: [bash(command), { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
  await using session = await AskedSession.start(server);
  const first = await session.turn("once");
  expect(first.questions[0]?.title).toBe(`Let curl reach 127.0.0.1:${database.port}?`);
  expect(first.questions[0]?.impactStatement).toContain("is a service on the server's own machine");
  expect(first.output).toContain("row");
  const second = await session.turn("no");
  expect(second.questions).toHaveLength(1);
  expect(database.lines.slice(1)).toEqual(["GET /one HTTP/1.1"]);
  expect(other.lines.slice(1)).toEqual([]);
});

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
