import { existsSync } from "node:fs";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { allEvents, eventsOf, runTurn, startSession } from "../rpc/session-client.ts";

function scripted(command: string, server: NonNullable<TestServerOptions["server"]>): TestServerOptions {
  return {
    files: {
      "test.mjs": "import { writeFileSync } from 'node:fs'; writeFileSync('made.txt', 'made'); console.log('ran');\n",
    },
    script: [{ steps: [bash(command), { text: ["Done."] }] }],
    server,
  };
}

describe("how a session's commands are isolated", () => {
  test("staged, its server and its record say by what", async () => {
    await using server = await startTestServer(scripted("node test.mjs", { commands: "staged" }));
    const info = await server.client.getServerInfo({});
    expect(info).toMatchObject({ isolation: "sandboxed", isolationReason: expect.stringContaining("bubblewrap") });
    const events = await runTurn(server, await startSession(server), "test it");
    expect(eventsOf(events, "toolResult")[0]).toMatchObject({ output: expect.stringContaining("ran"), error: "" });
    await server.running[Symbol.asyncDispose]();
    expect(await server.workspace.read(".orchestration/agent_trace.jsonl")).toContain('"isolation":"sandboxed"');
  });

  test("where nothing is staged it is said at the start, and what does more than read asks", async () => {
    await using server = await startTestServer(scripted("node test.mjs", { commands: "ask" }));
    expect(server.warnings.join()).toContain("Commands run without a sandbox");
    expect(await server.client.getServerInfo({})).toMatchObject({
      isolation: "unsandboxed",
      isolationReason: expect.stringContaining("off"),
    });
    const sessionId = await startSession(server);
    expect(eventsOf(await allEvents(server, sessionId), "warning")[0]).toMatch(/without a sandbox/);
    const events = await runTurn(server, sessionId, "test it");
    expect(eventsOf(events, "toolResult")[0]?.error).toMatch(/yes|asked/);
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  });
});
