import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ToolBench } from "../tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

describe("Bash", () => {
  test.each([
    ["success", { command: "echo hi" }, { output: "hi\n[exit code 0]", exitCode: 0, truncated: false }, "verified"],
    ["no output", { command: "true" }, { output: "[exit code 0]" }, "verified"],
    ["no newline at the end", { command: "printf hi" }, { output: "hi\n[exit code 0]" }, "verified"],
    [
      "failure",
      { command: "echo no >&2; exit 3" },
      {
        output: "no\n[exit code 3]",
        exitCode: 3,
        failure: { failureClass: "command_error", message: "The command ended with exit code 3." },
      },
      "failed",
    ],
    [
      "a deadline",
      { command: "echo begun; sleep 20", timeout_ms: 300 },
      {
        output: expect.stringMatching(
          /^begun\n\[timed out after 0\.3 s\]\n\[timeout_ms may be 600000 at most; run_in_background/,
        ),
        failure: { failureClass: "timeout", message: "The command timed out after 0.3 s." },
      },
      "failed",
    ],
    [
      "a job that it leaves behind",
      { command: "sleep 20 >/dev/null 2>&1 & echo begun" },
      { output: expect.stringMatching(/^begun\n\[exit code 0\]\n\[what `&` started has ended/) },
      "verified",
    ],
    [
      "jobs and signs that are none",
      { command: "(echo a & wait) 2>&1 && echo 'b & c' &>/dev/stdout" },
      { output: "a\nb & c\n[exit code 0]" },
      "verified",
    ],
    [
      "a signal",
      { command: "kill -KILL $$" },
      {
        output: "[ended by signal SIGKILL]",
        failure: { failureClass: "command_error", message: "The command ended with signal SIGKILL." },
      },
      "failed",
    ],
    ["a directory", { command: "pwd | grep -o '[^/]*$'", cwd: "sub" }, { output: "sub\n[exit code 0]" }, "verified"],
    ["many lines", { command: "cat <<'END'\na\nb\nEND\necho c" }, { output: "a\nb\nc\n[exit code 0]" }, "verified"],
  ])("%s", async (_name, args, want, verified) => {
    mkdirSync(join(bench.root, "sub"));
    const { outcome, verification } = await bench.run("Bash", args);
    expect(outcome).toMatchObject(want);
    expect(verification?.state).toBe(verified);
  });

  test("its effect is the parsed command, its description only a claim", async () => {
    const { analysis } = await bench.analyse("Bash", { command: "ls -la src", description: "looks harmless" });
    expect(analysis).toMatchObject({
      statement: "Run `ls -la src`",
      claim: "looks harmless",
      effects: [
        { type: "exec", where: "server", cwd: { relative: "" }, command: { text: "ls -la src", readsOnly: true } },
      ],
    });
    const { analysis: writing } = await bench.analyse("Bash", { command: "rm -rf build" });
    expect(writing.effects).toMatchObject([{ type: "exec", command: { readsOnly: false } }]);
  });

  test("output comes live", async () => {
    const { execute } = await bench.analyse("Bash", { command: "echo a; sleep 0.1; echo b" });
    const live: string[] = [];
    await execute((text) => live.push(text));
    expect(live.join("")).toBe("a\nb\n");
  });

  test("huge output is cut in the middle", async () => {
    const { outcome } = await bench.run("Bash", { command: "seq 1 200000" });
    expect(outcome.truncated).toBe(true);
    expect(outcome.output).toMatch(/^1\n2\n[^]*\[\d+ bytes of output left out here\][^]*\n200000\n\[exit code 0\]$/);
    expect(outcome.output.length).toBeLessThan(1_050_000);
  });

  test("a stop ends it, and keeps what it said", async () => {
    const controller = new AbortController();
    const running = bench.run("Bash", { command: "echo begun; sleep 20" }, controller.signal);
    setTimeout(() => controller.abort(), 300);
    expect((await running).outcome).toMatchObject({
      output: "begun\n[stopped before it ended]",
      failure: { failureClass: "partial_execution" },
    });
  });

  test("secrets of the server are not in its environment", async () => {
    process.env["GENNAI_AUTH_TOKEN"] = "hunter2";
    using other = new ToolBench();
    const output = await other.output("Bash", { command: "env" });
    delete process.env["GENNAI_AUTH_TOKEN"];
    expect(output).toContain("PATH=");
    expect(output).not.toContain("hunter2");
  });

  test.each([
    ["no command", { command: "" }, /^bad_arguments: command must not be empty/],
    ["a NUL", { command: "echo \0" }, /^bad_arguments: command must not hold a NUL/],
    ["too long a deadline", { command: "true", timeout_ms: 600_001 }, /^bad_arguments: timeout_ms must be at most/],
    ["no such directory", { command: "true", cwd: "none" }, /^bad_directory: /],
    ["a file as directory", { command: "true", cwd: "f.txt" }, /^bad_directory: /],
  ])("refuses %s", async (_name, args, want) => {
    bench.file("f.txt", "a\n");
    expect(await bench.failure("Bash", args)).toMatch(want);
  });

  test("a directory that was swapped after the decision is not entered", async () => {
    mkdirSync(join(bench.root, "sub"));
    const { execute } = await bench.analyse("Bash", { command: "touch made", cwd: "sub" });
    renameSync(join(bench.root, "sub"), join(bench.root, "moved"));
    symlinkSync("/tmp", join(bench.root, "sub"));
    await expect(execute()).rejects.toMatchObject({ code: "directory_changed" });
  });

  test("a sandbox can stand in front of the shell", async () => {
    using other = new ToolBench({
      shellArguments: (command) => ["/usr/bin/env", "BOXED=yes", "/bin/sh", "-c", command],
    });
    expect(await other.output("Bash", { command: "echo $BOXED" })).toBe("yes\n[exit code 0]");
  });
});

describe("RunInTerminal", () => {
  beforeEach(() => bench.editor.abilities.add("command"));

  test.each([
    ["an exit code", { state: "exited", exitCode: 0, output: "hi\n" }, "hi\n[exit code 0]", "verified", undefined],
    ["a failure", { state: "exited", exitCode: 2, output: "" }, "[exit code 2]", "failed", "command_error"],
    [
      "an unknown exit code",
      { state: "exited", exitCode: undefined },
      "[ended; the exit code is unknown]",
      "unverified",
      undefined,
    ],
    [
      "nothing seen",
      { state: "unobserved", exitCode: undefined },
      "[the command was sent to the terminal; its result is unknown]",
      "unverified",
      undefined,
    ],
  ] as const)("%s", async (_name, terminal, output, verified, failureClass) => {
    bench.editor.terminal = terminal;
    const { outcome, verification } = await bench.run("RunInTerminal", { command: "npm install", reveal: false });
    expect(outcome.output).toBe(output);
    expect(outcome.failure?.failureClass).toBe(failureClass);
    expect(verification?.state).toBe(verified);
    expect(bench.editor.asked).toEqual([
      { command: "npm install", cwd: bench.root, terminalName: "Gennai Agent", reveal: false },
    ]);
  });

  test.each([
    ["a second line", "ls\nrm -rf ."],
    ["a carriage return", "ls\rrm"],
    ["an escape", "echo \u001b[2J"],
    ["a control key", "echo \u0003"],
    ["a line separator", "ls\u2028rm"],
  ])("%s is a bad command", async (_name, command) => {
    expect(await bench.failure("RunInTerminal", { command })).toMatch(/^bad_command: /);
    expect(bench.editor.asked).toEqual([]);
  });

  test("without a client that can, it is unavailable", async () => {
    bench.editor.abilities.clear();
    expect(await bench.failure("RunInTerminal", { command: "ls" })).toBe(
      "tool_unavailable: No attached client can run commands in a terminal. | Use Bash.",
    );
  });

  test("a failure of the client is passed on", async () => {
    bench.editor.failure = new ToolFailure("client_error", "no terminal");
    expect(await bench.failure("RunInTerminal", { command: "ls" })).toBe("client_error: no terminal");
  });

  test("its effect says where it runs", async () => {
    const { analysis } = await bench.analyse("RunInTerminal", { command: "ls" });
    expect(analysis.effects).toMatchObject([{ type: "exec", where: "client", command: { text: "ls" } }]);
  });
});
