import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseHooks } from "@gennai/governance/hooks/hook-config";
import type { Limits } from "@gennai/governance/limits/limits";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { createHookRunner } from "#rules/run-hook";
import { WorkspaceHooks } from "#rules/workspace-hooks";

let directory: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-hooks-")));
  for (const name of ["config", "state", "ws", "ws/.gennai"]) await mkdir(join(directory, name), { mode: 0o700 });
});
afterEach(() => rm(directory, { recursive: true }));

const configOf = (command: string, timeout = 2): string =>
  JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command, timeout }] }] } });

const input = {
  session_id: "s",
  cwd: "/ws",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command: "ls" },
  tool_use_id: "c",
} as const;

async function run(command: string, options: { timeout?: number; signal?: AbortSignal } = {}) {
  const [hook] = parseHooks(configOf(command, options.timeout), "hooks.json");
  if (hook === undefined) throw new Error("no hook");
  const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
  const runner = createHookRunner({ cwd: join(directory, "ws"), environment });
  return runner.run(hook, input, { signal: options.signal ?? new AbortController().signal });
}

describe("running", () => {
  it("gives the call on standard input and keeps the streams apart", async () => {
    const ran = await run("cat; echo problem >&2; exit 2");
    expect(ran).toMatchObject({ exitCode: 2, stderr: "problem\n" });
    expect(JSON.parse(ran.stdout)).toEqual(input);
  });

  it("runs in the workspace, with a scrubbed environment", async () => {
    process.env["GENNAI_TEST_SECRET"] = "secret";
    const { stdout } = await run("pwd; env");
    delete process.env["GENNAI_TEST_SECRET"];
    expect(stdout.split("\n")[0]).toBe(join(directory, "ws"));
    expect(stdout).toContain(`CLAUDE_PROJECT_DIR=${join(directory, "ws")}`);
    expect(stdout).not.toContain("GENNAI_TEST_SECRET");
  });

  it("does not mind a program that reads nothing", async () => {
    expect(await run("exec <&-; exit 0")).toMatchObject({ exitCode: 0 });
  });

  it("ends one that takes too long, with all it started", async () => {
    const begin = performance.now();
    const ran = await run("trap '' TERM; sleep 30 & sleep 30", { timeout: 0.2 });
    expect(ran.failure).toContain("timed out after 0.2 s");
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  it.each([
    ["killed", "kill -9 $$", "killed by SIGKILL"],
    ["printing without end", "yes", "printed too much"],
  ])("says what is wrong: %s", async (_name, command, failure) => {
    expect((await run(command)).failure).toContain(failure);
  });

  it("rejects when the turn is stopped, after the program is gone", async () => {
    const abort = new AbortController();
    const running = run("echo $$ > pid.new; mv pid.new pid; sleep 60; true", { signal: abort.signal, timeout: 60 });
    const pidFile = join(directory, "ws", "pid");
    await expect.poll(() => existsSync(pidFile)).toBe(true);
    const pid = Number(readFileSync(pidFile, "utf8"));
    abort.abort();
    await expect(running).rejects.toThrow();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("says when there is no such program", async () => {
    expect(await run("/no/such/program")).toMatchObject({ exitCode: 127 });
  });
});

const hooks = (limits: Limits = []) =>
  new WorkspaceHooks({
    limits: async () => limits,
    configDir: join(directory, "config"),
    stateDir: join(directory, "state"),
    workspaceRoot: join(directory, "ws"),
  });

describe("loading", () => {
  const load = () => hooks().load();
  const userFile = () => join(directory, "config", "hooks.json");
  const projectFile = () => join(directory, "ws", ".gennai", "hooks.json");
  const trust = () => hooks().trust(async () => {});

  it("finds nothing where there is nothing", async () => {
    expect(await load()).toEqual({ hooks: [], problems: [], warnings: [] });
  });

  it("takes the user's own", async () => {
    await writeFile(userFile(), configOf("check"), { mode: 0o600 });
    expect((await load()).hooks).toMatchObject([{ event: "PreToolUse", command: "check", timeoutMs: 2_000 }]);
  });

  it("fails closed for a file of the user that cannot be used", async () => {
    await writeFile(userFile(), "{", { mode: 0o600 });
    expect(await load()).toMatchObject({ hooks: [], problems: [expect.stringContaining("not JSON")] });
    await writeFile(userFile(), configOf("check"));
    await chmod(userFile(), 0o666);
    expect(await load()).toMatchObject({ hooks: [], problems: [expect.stringContaining("chmod go-w")] });
  });

  it("runs a project's hooks only as a person trusted them", async () => {
    await writeFile(projectFile(), configOf("curl evil"));
    expect(await load()).toMatchObject({
      hooks: [],
      problems: [],
      warnings: [expect.stringContaining("was not trusted yet")],
    });

    expect(await trust()).toEqual(["curl evil"]);
    expect(await load()).toMatchObject({ hooks: [{ command: "curl evil" }], warnings: [] });

    await writeFile(projectFile(), configOf("curl eviller"));
    expect(await load()).toMatchObject({ hooks: [], warnings: [expect.stringContaining("changed since")] });

    await rm(projectFile());
    expect(await load()).toMatchObject({ hooks: [], warnings: [expect.stringContaining("gone")] });
  });

  it("warns of a project's file that is broken and was never trusted", async () => {
    await writeFile(projectFile(), "{");
    expect(await load()).toMatchObject({ hooks: [], problems: [], warnings: [expect.any(String)] });
    await expect(trust()).rejects.toThrow("not JSON");
  });
});

test("nothing to trust", async () => {
  expect(await hooks().trust(async () => {})).toBeUndefined();
  await expect(readFile(join(directory, "state", "trusted-hooks.json"))).rejects.toThrow("ENOENT");
});
