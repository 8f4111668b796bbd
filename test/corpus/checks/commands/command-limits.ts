import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { plainShell } from "@gennai/machine/process/plain-shell";
import { type CapturedCommand, type CommandRun, holdDirectory, runCommand } from "@gennai/machine/process/run-command";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { type Checks, check } from "../../corpus-case.ts";

/** Runs a script as the Bash tool does, and looks at what it left before its directory goes. */
async function running(
  script: string,
  options: Partial<CapturedCommand>,
  look: (run: CommandRun, live: string, root: string) => void,
): Promise<void> {
  await using directory = await temporaryDirectory();
  let live = "";
  const run = await runCommand(
    {
      argv: plainShell(script),
      cwd: holdDirectory(directory.root),
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", TMPDIR: directory.root },
      timeoutMs: 30_000,
      ...options,
    },
    {
      signal: new AbortController().signal,
      onOutput: (text) => {
        live += text;
      },
    },
  );
  assert.deepEqual(run.survivors, []);
  look(run, live, directory.root);
}

/** What commands may take, and what happens to what they print: rows of the group `model`. */
export const commandLimitChecks: Checks = {
  "MOD-018": check(() =>
    running("while :; do sleep 60 & done", { limits: { processes: 60 } }, (run) => {
      assert.equal(run.state, "over-limit");
      assert.equal(run.exceeded, "it started more than 60 processes");
    }),
  ),
  "MOD-020": check(async () => {
    await running("head -c 30000000 /dev/zero > big", { limits: { fileBytes: 1024 * 1024 } }, (run, _live, root) => {
      assert.notEqual(run.exitCode, 0);
      assert.ok(statSync(`${root}/big`).size <= 1024 * 1024);
    });
    // Many files instead of a large one: the disk is looked at.
    const script = "i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > f$i; done";
    const limits = { freeDiskBytes: Number.MAX_SAFE_INTEGER };
    await running(script, { limits }, (run) => assert.equal(run.state, "over-limit"));
  }),
  "MOD-021": check(async () => {
    await running("printf 'caf\\351\\n'", {}, (run) => {
      assert.deepEqual([run.output, run.encoding], ["caf\ufffd\n", "unknown"]);
      assert.equal(run.outputSha256, "9e4efed0ff1dbcf37240f82e1aad6c763eb9331434d2b394a6441abbbe3634eb");
    });
    await running("printf '\\377\\376h\\0i\\0\\n\\0'", {}, (run) => {
      assert.deepEqual([run.output, run.encoding], ["hi\n", "utf-16"]);
    });
    await running("printf 'a\\0b\\n'", {}, (run) => assert.deepEqual([run.output, run.encoding], ["ab\n", "unknown"]));
  }),
};
