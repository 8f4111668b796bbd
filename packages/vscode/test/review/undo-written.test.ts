import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { ChangeSets } from "../../src/apply/change-sets.ts";
import { undoWritten } from "../../src/review/undo-written.ts";
import { type UnseenFile, unseenHunks } from "../../src/review/unseen-file.ts";
import { FakeFiles } from "../fake-files.ts";

const { signal } = new AbortController();

/** Undoes hunks of a file that holds `now`, by default the first. */
async function undo(
  file: UnseenFile,
  now: string | undefined,
  hunks: readonly string[] | "all" = [unseenHunks(file)[0]?.id ?? ""],
) {
  await using directory = await temporaryDirectory(now === undefined ? {} : { "a.txt": now });
  const files = new FakeFiles();
  const changeSets = new ChangeSets({ files, workspace: directory.root });
  const options = { files, changeSets, workspace: directory.root };
  const outcome = await undoWritten(options, file, hunks, { signal }).then(
    () => "undone",
    (error: unknown) => errorMessage(error),
  );
  const text = await readFile(directory.path("a.txt"), "utf8").catch(() => undefined);
  return { outcome, text, steps: files.edited.length };
}

const file: UnseenFile = { path: "a.txt", base: "a\nb\nc\n", agent: "A\nb\nC\n" };

test.each([
  { name: "as the agent left it", file, now: "A\nb\nC\n", text: "a\nb\nC\n" },
  { name: "with lines of the user", file, now: "mine\r\nA\r\nb\r\nC\r\n", text: "mine\r\na\r\nb\r\nC\r\n" },
  { name: "made by the agent", file: { path: "a.txt", base: undefined, agent: "x\n" }, now: "x\n", text: undefined },
  {
    name: "made by the agent, with more in it",
    file: { path: "a.txt", base: undefined, agent: "x\n" },
    now: "x\nmine\n",
    text: "mine\n",
  },
  { name: "emptied before", file: { path: "a.txt", base: "", agent: "x\n" }, now: "x\n", text: "" },
])("one hunk is taken back in one step of a file $name", async ({ file: written, now, text }) => {
  expect(await undo(written, now)).toEqual({ outcome: "undone", text, steps: 1 });
});

test("a hunk whose lines changed is not taken back, and nothing is written", async () => {
  const { outcome, text, steps } = await undo(file, "mine\nb\nC\n");
  expect(outcome).toMatch(/Nothing was undone: these lines of a\.txt changed since the agent wrote them\./);
  expect({ text, steps }).toEqual({ text: "mine\nb\nC\n", steps: 0 });
});

test.each([
  { name: "all of it", file, now: "mine\nA\nb\nC\n", text: "mine\na\nb\nc\n" },
  { name: "all that is as the agent left it", file, now: "mine\nb\nC\n", text: "mine\nb\nc\n" },
  { name: "a deletion", file: { path: "a.txt", base: "a\n", agent: undefined }, now: undefined, text: "a\n" },
])("a file is taken back in one step: $name", async ({ file: written, now, text }) => {
  expect(await undo(written, now, "all")).toEqual({ outcome: "undone", text, steps: 1 });
});

test.each([
  { name: "alone; what was written in it stays", hunks: [""], now: "A\nb\nC\n", wanted: "A\nb\nC\n" },
  { name: "with all that was written in it", hunks: "all", now: "mine\nA\nb\nC\n", wanted: "mine\na\nb\nc\n" },
] as const)("a rename is taken back $name", async ({ hunks, now, wanted }) => {
  await using directory = await temporaryDirectory({ "a.txt": now });
  const files = new FakeFiles();
  const changeSets = new ChangeSets({ files, workspace: directory.root });
  const options = { files, changeSets, workspace: directory.root };
  await undoWritten(options, { ...file, movedFrom: "old.txt" }, hunks, { signal });
  expect(await readFile(directory.path("old.txt"), "utf8")).toBe(wanted);
  expect(existsSync(directory.path("a.txt"))).toBe(false);
});
