import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

// The programs behind `npm run …`; through scripts/task.mjs some of them would be built first.
it.each([
  ["scripts/task.mjs", "check"],
  ["scripts/task.mjs", "pictures"],
  ["scripts/test.mjs"],
  ["test/acpx/main.ts"],
  ["test/bench/run-bench.ts"],
  ["test/corpus/guarded.ts"],
  ["test/corpus/main.ts"],
  ["test/effects/main.ts"],
  ["test/eval/main.ts"],
  ["test/provenance/main.ts"],
  ["test/real-agents/main.ts"],
  ["release/main.ts", "make"],
])("%s %s prints its usage for --help", async (...command) => {
  const { stdout, stderr } = await run(process.execPath, [...command, "--help"], { cwd: root });
  expect(stderr).not.toContain("    at ");
  expect(stdout).toMatch(/^(?:Usage:\n {2})?npm (?:run|test)/);
});

it("names what of a command line is wrong, without a stack trace", async () => {
  const failed: unknown = await run(process.execPath, ["test/bench/run-bench.ts", "--nothing"], { cwd: root }).catch(
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: .*--nothing[^]*npm run bench/) });
  expect(failed).not.toMatchObject({ stderr: expect.stringContaining("    at ") });
});
