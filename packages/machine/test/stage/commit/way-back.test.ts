import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { forgetOldWaysBack, goBack, hasWayBack } from "#stage/commit/way-back";
import { recoverChanges } from "#staged-shell/stages/recover-changes";

const journal = JSON.stringify({ version: 1, markers: [], operations: [], locks: [] });
const transaction = JSON.stringify({ version: 1, roots: [] });
/** Of a process that does not run. */
const id = "4194304-1-abc-1";

/** What a power failure may leave of a run. */
function left(stateDir: string, files: Readonly<Record<string, string>>): string {
  const directory = join(stateDir, "stages", id);
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return directory;
}

test.each(["", "{", "{}"])("a way back that says %j is none, stops no start, and is removed", async (written) => {
  await using state = await temporaryDirectory();
  const directory = left(state.root, {
    "transaction.json": transaction,
    "committed.json": journal,
    "way-back.json": written,
  });
  expect(hasWayBack(state.root, id)).toBe(false);
  expect(await goBack(state.root, "/workspace", async () => undefined)).toBeUndefined();
  await forgetOldWaysBack(state.root, Date.now());
  expect(await recoverChanges(state.root)).toEqual([{ id, state: "kept" }]);
  expect(existsSync(directory)).toBe(false);
});

test("a run whose list of directories was not written whole is removed, unless a commit had begun", async () => {
  await using state = await temporaryDirectory();
  const directory = left(state.root, { "transaction.json": "" });
  expect(await recoverChanges(state.root)).toEqual([{ id, state: "removed" }]);
  expect(existsSync(directory)).toBe(false);
  left(state.root, { "transaction.json": "", "committing.json": journal });
  expect(await recoverChanges(state.root)).toMatchObject([{ id, state: "stuck" }]);
  expect(existsSync(directory)).toBe(true);
});
