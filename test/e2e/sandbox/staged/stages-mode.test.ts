import { existsSync } from "node:fs";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { afterEach, describe, expect, test, vi } from "vitest";
import { allEvents, eventOf, eventsOf, runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

afterEach(() => vi.restoreAllMocks());

/** A server whose model runs one command that writes to two files: one needs a user's yes, the other does not. */
function server(
  options: TestServerOptions["server"],
  args: Readonly<Record<string, string>> = { command: "echo evil > AGENTS.md; echo fine > notes.txt" },
): Promise<TestServer> {
  return startTestServer({
    files: { "a.txt": "a\n" },
    steps: [call("Bash", args), { text: ["Done."] }],
    ...(options === undefined ? {} : { server: options }),
  });
}

async function ran(at: TestServer) {
  const events = await runTurn(at, await startSession(at), "go");
  return { events, result: eventOf(events, "toolResult") };
}

describe("without a word of the user's", () => {
  test("a command is staged: nobody is asked before it, and all of what it did waits for a yes to a part of it", async () => {
    await using at = await server({ commands: "auto" });
    expect(await at.client.getServerInfo({})).toMatchObject({
      stages: "auto",
      isolation: "sandboxed",
      isolationReason: expect.stringContaining("bubblewrap"),
    });
    const { result } = await ran(at);
    expect(await at.workspace.read(".orchestration/agent_trace.jsonl")).toContain('"isolation":"sandboxed"');
    expect(result.output).toContain("nothing it changed was kept");
    expect(["AGENTS.md", "notes.txt"].filter((path) => existsSync(at.workspace.path(path)))).toEqual([]);
  });

  test("where the workspace cannot be staged, it runs as without stages", async () => {
    vi.spyOn(process, "geteuid").mockReturnValue(4_000_000);
    await using at = await server({ commands: "auto" });
    const { result } = await ran(at);
    // Not proven to read, and nobody is there to ask.
    expect(result.error).toMatch(/yes|asked/);
    expect(result.output).not.toContain("kept");
  });
});

test("where nothing is staged it is said at the start, and what does more than read asks", async () => {
  await using at = await server({ commands: "ask" }, { command: "touch made.txt" });
  expect(at.warnings.join()).toContain("Commands run without a sandbox");
  expect(await at.client.getServerInfo({})).toMatchObject({
    isolation: "unsandboxed",
    isolationReason: expect.stringContaining("off"),
  });
  const sessionId = await startSession(at);
  expect(eventsOf(await allEvents(at, sessionId), "warning")[0]).toMatch(/without a sandbox/);
  expect(eventOf(await runTurn(at, sessionId, "go"), "toolResult").error).toMatch(/yes|asked/);
  expect(existsSync(at.workspace.path("made.txt"))).toBe(false);
});

test("switched off, a command is asked about, and the tree is kept before it, whether it changes anything or not", async () => {
  await using at = await server({ commands: "ask" }, { command: "git commit --allow-empty -qm x" });
  expect(await at.client.getServerInfo({})).toMatchObject({ stages: "off" });
  await using editor = await Watcher.begin(at);
  await editor.answer(await editor.next("confirmationRequest"));
  expect((await editor.next("toolResult")).error).toBe("");
  expect(eventsOf(editor.events, "checkpointTaken")).toHaveLength(1);
});

describe("required", () => {
  test("no server starts without a sandbox to make stages of", async () => {
    vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
    await expect(server({ commands: "staged" })).rejects.toMatchObject({
      code: "sandbox_required",
      message: expect.stringContaining("there is none for darwin"),
      hint: expect.stringContaining("--commands staged"),
    });
  });

  test.each<[string, Readonly<Record<string, string>>, () => void, RegExp]>([
    [
      "where the workspace cannot be staged",
      { command: "touch made.txt" },
      () => void vi.spyOn(process, "geteuid").mockReturnValue(4_000_000),
      /belongs to another user/,
    ],
    ["outside of the workspace", { command: "ls", cwd: "/usr" }, () => undefined, /outside of the workspace/],
  ])("nothing runs %s, and the reason is said", async (_name, args, prepare, reason) => {
    prepare();
    await using at = await server({ commands: "staged" }, args);
    const { result } = await ran(at);
    expect(result.error).toMatch(reason);
    expect(existsSync(at.workspace.path("made.txt"))).toBe(false);
  });
});
