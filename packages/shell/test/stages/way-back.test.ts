import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forgetOldWaysBack, forgetWaysBack, goBack, hasWayBack, waysBack } from "@gennai/stage/commit/way-back";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { recoverChanges } from "#stages/recover-changes";

const journal = JSON.stringify({ version: 1, markers: [], operations: [], locks: [] });
const transaction = JSON.stringify({ version: 1, roots: [] });
/** Of a process that does not run. */
const id = "4194304-1-abc-1";

/** What a power failure may leave of a run. */
function left(stateDir: string, files: Readonly<Record<string, string>>, name = id): string {
  const directory = join(stateDir, "stages", name);
  mkdirSync(directory, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(directory, file), content);
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

describe("what is kept of commits", () => {
  const day = 24 * 60 * 60 * 1000;
  const about = (number: number, bytes: number, age: number) => ({
    id: `4194304-1-abc-${number}`,
    written: JSON.stringify({
      version: 1,
      workspace: `/${number}`,
      session: `s${number}`,
      keptAt: 100 * day - age,
      bytes,
    }),
  });

  function keep(stateDir: string, ...all: readonly ReturnType<typeof about>[]): void {
    for (const { id: name, written } of all) {
      const files = { "transaction.json": transaction, "committed.json": journal, "way-back.json": written };
      left(stateDir, files, name);
    }
  }

  test("is limited in bytes and in days, and the oldest goes first", async () => {
    await using state = await temporaryDirectory();
    keep(
      state.root,
      about(1, 1, 15 * day),
      about(2, 60, 3 * day),
      about(3, 30, 2 * day),
      about(4, 30, day),
      about(5, 0, 0),
    );
    const kept = () => waysBack(state.root).map(({ workspace }) => workspace);
    expect(kept()).toEqual(["/5", "/4", "/3", "/2", "/1"]);
    await forgetOldWaysBack(state.root, 100 * day, { bytes: 100, ageMs: 14 * day });
    expect(kept()).toEqual(["/5", "/4", "/3"]);
    await forgetOldWaysBack(state.root, 115 * day, { bytes: 100, ageMs: 14 * day });
    expect([kept(), readdirSync(join(state.root, "stages"))]).toEqual([[], []]);
  });

  test("is forgotten for a session", async () => {
    await using state = await temporaryDirectory();
    keep(state.root, about(1, 1, 0), about(2, 1, 0));
    await forgetWaysBack(state.root, ({ session }) => session === "s1");
    expect(waysBack(state.root).map(({ session }) => session)).toEqual(["s2"]);
  });

  test("survives that its disk is away for a start, and is forgotten without it", async () => {
    await using state = await temporaryDirectory();
    const away = [{ path: "/away", device: 1, inode: 1, places: ["/away/stage"] }];
    const { id: name, written } = about(1, 1, 0);
    const list = JSON.stringify({ version: 1, roots: away });
    left(state.root, { "transaction.json": list, "committed.json": journal, "way-back.json": written }, name);
    expect(await recoverChanges(state.root)).toEqual([{ id: name, state: "kept" }]);
    await forgetWaysBack(state.root, () => true);
    expect(readdirSync(join(state.root, "stages"))).toEqual([]);
  });
});
