import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { CommandState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type BridgeCase, type SceneTools } from "./bridge-scene.ts";

const runs = (name: string, check: (at: SceneTools) => Promise<void>): BridgeCase => ({
  name,
  ability: "runCommand",
  check,
});

/** A command, what it prints, and its exit code. */
const commands: readonly (readonly [name: string, command: string, output: string, exitCode: number])[] = [
  ["output", "printf 'one\\ntwo\\n'", "one\ntwo\n", 0],
  ["no output", "true", "", 0],
  ["an exit code", "(exit 3)", "", 3],
  ["what a subshell prints, and its code", "(echo inner; exit 4)", "inner\n", 4],
  ["what a condition runs", "if (exit 1); then echo yes; else (echo no; exit 5); fi", "no\n", 5],
  ["what a function does", "f() { echo called; }; f", "called\n", 0],
  ["how a shell ended that a command ends", "exit 6", "", 6],
  ["both streams", "echo out; echo err 1>&2", "out\nerr\n", 0],
  ["no history expansion", "echo wow!x", "wow!x\n", 0],
  ["quotes as they are", `echo "a  b" 'c  $HOME' \\"`, `a  b c  $HOME "\n`, 0],
  ["text beyond ASCII", "echo 'grün 色 😀'", "grün 色 😀\n", 0],
  ["a pipe's last code", "false | true", "", 0],
  ["a program that is not there", "no-such-program-here 2>/dev/null", "", 127],
  ["no token of this user's servers", 'echo "[$GENNAI_AUTH_TOKEN]"', "[]\n", 0],
];

export const commandCases: readonly BridgeCase[] = [
  ...commands.map(([name, command, output, exitCode]) =>
    runs(`tells ${name}`, async (at) => {
      const answer = await at.run(command);
      assert.equal(answer.error ?? "", "");
      assert.equal(answer.status, "SENT");
      assert.equal(answer.state, CommandState.EXITED);
      // An interactive shell says that it leaves.
      assert.equal(answer.output?.replace(/^exit\n/, ""), output);
      assert.equal(answer.exitCode, exitCode);
      assert.equal(answer.truncated, false);
    }),
  ),

  runs("runs in the workspace, or where it was asked to", async (at) => {
    await mkdir(at.path("sub"));
    assert.equal((await at.run("pwd")).output, `${at.scene.root}\n`);
    assert.equal((await at.run("pwd", { cwd: at.path("sub") })).output, `${at.path("sub")}\n`);
  }),

  runs("what one command did to its shell does not reach the next", async (at) => {
    await mkdir(at.path("sub"));
    await at.run("cd sub; export GENNAI_LEFT=1; alias pwd='echo no'");
    assert.equal((await at.run('pwd; echo "[$GENNAI_LEFT]"')).output, `${at.scene.root}\n[]\n`);
  }),

  runs("says that a directory is not there", async (at) => {
    const answer = await at.run("touch made", { cwd: at.path("none") });
    assert.equal(answer.status, "ERROR");
    assert.notEqual(answer.error, "");
    assert.deepEqual(await at.tree(), []);
  }),

  runs("passes output on while the command runs", async (at) => {
    const running = at.run("echo first; while ! test -e go; do sleep 0.05; done; echo second");
    for (let waited = 0; !at.live.includes("first") && waited < 15_000; waited += 50) await pause(50);
    assert.match(at.live, /first/);
    assert.doesNotMatch(at.live, /second/);
    await at.write("go", "");
    assert.equal((await running).output, "first\nsecond\n");
  }),

  runs("keeps the end of too much output", async (at) => {
    const answer = await at.run("seq 1 150000");
    assert.equal(answer.truncated, true);
    assert.ok((answer.output?.length ?? 0) <= 256 * 1024);
    assert.match(answer.output ?? "", /\n150000\n$/);
  }),

  ...[
    ["a command", "sleep 3; touch late"],
    ["a command that ignores Ctrl-C", "(trap '' INT TERM HUP; sleep 3; touch late)"],
    ["what runs behind it", "(trap '' INT TERM HUP; sleep 3; touch late) & sleep 30"],
  ].map(([name, command]) =>
    runs(`a stop ends ${name}`, async (at) => {
      const controller = new AbortController();
      const running = at.run(`echo started; ${command}`, { signal: controller.signal });
      for (let waited = 0; !at.live.includes("started") && waited < 15_000; waited += 50) await pause(50);
      const began = performance.now();
      controller.abort(new Error("stopped by the user"));
      await assert.rejects(running, /stopped by the user/);
      assert.ok(performance.now() - began < 4000, "it took too long");
      await pause(3500);
      assert.deepEqual(await at.tree(), []);
    }),
  ),
];
