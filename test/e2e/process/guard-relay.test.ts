import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { builtProgram } from "@gennai/testkit/built-program";
import { answering, given, hookCall } from "@gennai/testkit/guard-hook";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, it } from "vitest";

const program = builtProgram(import.meta.resolve("@gennai/cli/main"));

/** Starts the hook by Node alone, as where there is no Perl. */
async function hook(stateDir: string, cwd: string, input: string) {
  const child = spawn(process.execPath, [program, "guard", "hook", "claude-code"], {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: stateDir, PWD: cwd, GENNAI_STATE_DIR: stateDir },
    stdio: ["pipe", "pipe", "pipe"],
  });
  return given(child, input);
}

const nothing = { code: 0, printed: "", complained: "" };
const decisionIn = (printed: string): unknown => JSON.parse(printed).hookSpecificOutput.permissionDecision;

describe("the hook by Node alone", () => {
  it("says what the gate of a running server decided, which has it in its ledger", async () => {
    await using server = await startTestServer({ server: { announce: true } });
    const { root } = server.workspace;
    expect(await hook(server.stateDir, root, hookCall(root, "Read", { file_path: "README.md" }))).toEqual(nothing);
    const content = "ä\u2028\u0000😀".repeat(100_000);
    const denied = await hook(server.stateDir, root, hookCall(root, "Write", { file_path: "/etc/x", content }));
    expect([denied.code, denied.complained, decisionIn(denied.printed)]).toEqual([0, "", "deny"]);
    const { records } = await server.governance.listLedgerRecords({});
    expect(records).toHaveLength(2);
  });

  it.each([
    ["no server", undefined],
    ["one that says nothing", ""],
    ["half of an answer", 'HTTP/1.0 200 OK\r\nContent-Length: 90\r\n\r\n{"answer":{}'],
    ["an answer of unknown length", "HTTP/1.0 200 OK\r\n\r\n{}"],
    ["something else", "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nnull"],
    ["an error", "HTTP/1.0 500 No\r\nContent-Length: 2\r\n\r\n{}"],
  ])("with %s it leaves the call to the program, which refuses what changes something", async (_what, answer) => {
    await using state = await temporaryDirectory();
    await using work = await temporaryDirectory();
    using server = answer === undefined ? undefined : await answering(state.root, answer);
    const refused = await hook(state.root, work.root, hookCall(work.root, "Write", { file_path: "a", content: "" }));
    expect([refused.code, decisionIn(refused.printed)]).toEqual([0, "deny"]);
    expect(server?.asked()).toBe(answer === undefined ? undefined : 1);
  });

  it("refuses where the directory that it was started in is gone", async () => {
    await using state = await temporaryDirectory();
    const started = ["-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"];
    const words = [process.execPath, program, "guard", "hook", "claude-code"];
    const { status, stdout, stderr } = spawnSync("/bin/sh", [...started, ...words], {
      cwd: state.root,
      env: { PATH: "/usr/bin:/bin", HOME: state.root, GENNAI_STATE_DIR: state.root },
      input: hookCall(state.root, "Write", { file_path: "a", content: "" }),
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("could not judge the call");
  });

  it("asks no server that a project announces, where no state directory is named", async () => {
    await using home = await temporaryDirectory();
    await using work = await temporaryDirectory();
    mkdirSync(join(work.root, "undefined"));
    using server = await answering(join(work.root, "undefined"), "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    const { stdout } = spawnSync(process.execPath, [program, "guard", "hook", "claude-code"], {
      cwd: work.root,
      env: { PATH: "/usr/bin:/bin", HOME: home.root },
      input: hookCall(work.root, "Write", { file_path: "a", content: "" }),
      encoding: "utf8",
    });
    expect(decisionIn(stdout)).toBe("deny");
    expect(server.asked()).toBe(0);
  });

  it.each([
    ["whose directory others can change", 0o777, 0o600],
    ["whose announcement others can read", 0o700, 0o644],
  ])("does not ask a server %s", async (_what, directory, file) => {
    await using state = await temporaryDirectory();
    await using work = await temporaryDirectory();
    using server = await answering(state.root, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    chmodSync(join(state.root, "servers"), directory);
    chmodSync(join(state.root, "servers/1.json"), file);
    const refused = await hook(state.root, work.root, hookCall(work.root, "Write", { file_path: "a", content: "" }));
    expect(decisionIn(refused.printed)).toBe("deny");
    expect(server.asked()).toBe(0);
  });
});
