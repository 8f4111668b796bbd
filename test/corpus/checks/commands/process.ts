import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect } from "@gennai/client/connection/connection";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { allEvents, endState, eventsOf, runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";
import { expectCode, scriptOf } from "../../tool-call.ts";

const serving = builtProgram(new URL("../../../crash/server/serving-process.ts", import.meta.url));
const hello = { match: ".", steps: [{ text: ["Hello."] }] };

const soak = notApplicable("A soak of ten thousand turns takes longer than tests may; benchmarks watch memory.");

/** Runs the same on processes of a server: a child with its own state, killed at the end. */
async function withChild(
  work: (child: { readonly process: ChildProcess; readonly port: number; readonly token: string }) => Promise<void>,
): Promise<void> {
  await using home = await startTestServer({ script: [hello] });
  await using state = await temporaryDirectory();
  const script = await home.scriptFile([hello]);
  const token = "c".repeat(43);
  const options = { port: 0, token, stateDir: state.root, workspace: home.workspace.root, script };
  const child = spawn(process.execPath, [serving, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  try {
    const [line] = await once(child.stdout, "data");
    await work({ process: child, port: Number(line), token });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

export const processChecks: Checks = {
  "PRC-004": check(async () => {
    await withChild(async (child) => {
      child.process.stdout?.destroy();
      child.process.stderr?.destroy();
      const client = connect({ baseUrl: `http://127.0.0.1:${child.port}`, token: child.token });
      const { sessionId } = await client.startSession({});
      const events = await Array.fromAsync(client.invoke({ sessionId, userInput: "go" }));
      assert.equal(endState(events), "COMPLETED");
      assert.equal(child.process.exitCode, null);
    });
    await expectCode("ok", "Bash", { command: "seq 100000 | head -1" });
  }),
  "PRC-009": check(async () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    // Each a little different: the same calls over and over would end the turn as a loop.
    const uses = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => [
        { tool: "Read", args: { file_path: "src/a.ts", limit: from + index + 1 } },
        { tool: "Grep", args: { pattern: `a|${from + index}` } },
        { tool: "Bash", args: { command: `echo ${from + index}` } },
      ]).flat();
    await using server = await startTestServer({
      files: { "src/a.ts": "a\n" },
      script: [scriptOf(uses(0, 2)), scriptOf(uses(2, 40))],
      settings: { maxIterations: 1000 },
    });
    const sessionId = await startSession(server);
    // What is opened once, at the first call of its kind, stays open.
    assert.equal(endState(await runTurn(server, sessionId, "go")), "COMPLETED");
    const before = count();
    assert.equal(endState(await runTurn(server, sessionId, "go")), "COMPLETED");
    assert.ok(count() <= before + 3, `${before} descriptors became ${count()}`);
  }),
  "PRC-017": notApplicable("It is about the editor's extension, which is not part of this release."),
  "PRC-018": check(async () => {
    await using server = await startTestServer({ script: [hello, hello] });
    const sessionId = await startSession(server);
    await runTurn(server, sessionId, "before");
    await server.restart();
    assert.equal(endState(await runTurn(server, sessionId, "after")), "COMPLETED");
    assert.equal(eventsOf(await allEvents(server, sessionId), "userMessage").length, 2);
  }),
  "PRC-021": notApplicable("A test cannot put the machine to sleep."),
  "PRC-022": notApplicable("A test may not set the machine's clock; SES-023 checks that clients' clocks do not count."),
  "PRC-023": check(async () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "Pacific/Auckland";
    try {
      await using server = await startTestServer({ script: [hello] });
      const sessionId = await startSession(server);
      const { items } = await server.client.writeTodos({ sessionId, items: [{ content: "a" }] });
      assert.match(items[0]?.created ?? "", /Z$/);
      for (const { time } of await runTurn(server, sessionId, "go")) {
        assert.ok(Math.abs(Number(time?.seconds ?? 0n) * 1000 - Date.now()) < 60_000);
      }
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  }),
  "PRC-027": soak,
  // Design: without a sandbox what is proven to read runs, all else asks; the state is said and recorded.
  "PRC-028": check(async () => {
    await expectCode(
      "ok",
      "Bash",
      { command: "ls" },
      {
        after: async (server) => {
          assert.equal((await server.client.getServerInfo({})).isolation, "unsandboxed");
          await server.running[Symbol.asyncDispose]();
          assert.ok((await server.workspace.read(".orchestration/agent_trace.jsonl")).includes("unsandboxed"));
        },
      },
    );
    await expectCode("nobody_to_ask", "Bash", { command: "touch made" });
  }),
};
