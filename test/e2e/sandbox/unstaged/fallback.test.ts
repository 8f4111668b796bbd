import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const program = fileURLToPath(new URL("fallback-program.ts", import.meta.url));

interface Outcome {
  readonly outcome: string;
  readonly rules: readonly string[];
  /** Of the file that the second command writes. */
  readonly text: string;
}

/** The result of the two commands of the program, in mounts of its own. */
async function outcomes(place: "overlay" | "copy" | "too-large"): Promise<readonly Outcome[]> {
  const home = mkdtempSync(join(tmpdir(), "gennai-home-"));
  try {
    const args = ["--mount", process.execPath, program, place];
    const { stdout } = await promisify(execFile)("unshare", args, { env: { ...process.env, HOME: home } });
    const results: readonly Outcome[] = JSON.parse(stdout);
    return results;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

// Only root can make the mount.
describe.runIf(process.getuid?.() === 0)("a workspace over which no overlay can be made", () => {
  test("and that is too large for copies: what only reads runs; what is written asks before", async () => {
    const [reads, writes] = await outcomes("too-large");
    expect(reads).toMatchObject({ outcome: "ran" });
    // Nobody could look at it after.
    expect(writes).toMatchObject({ outcome: "asked", text: "as it was\n" });
    expect(writes?.rules).toContain("commands/not-proven-to-read");
  });

  test.each(["copy", "overlay"] as const)("both run on a stage of this kind: %s", async (place) => {
    const [reads, writes] = await outcomes(place);
    expect([reads?.outcome, writes?.outcome]).toEqual(["ran", "ran"]);
    expect(writes?.text).toBe("changed\n");
  });
});
