import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const packages = fileURLToPath(new URL("../../packages", import.meta.url));
const sources = globSync("*/src/**/*.{ts,tsx}", { cwd: packages })
  .filter((file) => !/\/gen\/|^testkit\//.test(file))
  .map((file) => ({ file, text: readFileSync(`${packages}/${file}`, "utf8") }));

function filesWith(pattern: RegExp): readonly string[] {
  return sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
}

/** Files that give a file its name by themselves. All others write with `replaceFile`; a new line needs a convincing reason. */
const renaming: Readonly<Record<string, string>> = {
  "machine/src/replace-file.ts": "how all the others replace a file as a whole",
  "machine/src/entries/move-entry.ts": "moves what is there",
  "machine/src/entries/remove-tree.ts": "lifts a directory out of one that is closed",
  "machine/src/change-set/held-operation.ts": "moves entries of a set of changes",
  "machine/src/change-set/place-file.ts": "moves entries relative to a directory that is held open",
  "machine/src/change-set/set-journal.ts":
    "the name of a journal is its phase; it waits for the disk in another thread",
  "machine/src/process/locks/lock-holder.ts": "the draft has the token of its holder, and appears only if it is new",
  "stage/src/commit/make-fresh.ts": "moves entries",
  "stage/src/commit/take-layer-part.ts": "moves a copied tree",
  "stage/src/mount/laid-changes.ts": "puts a directory aside",
  "stage/src/transaction/staged-root.ts": "moves what a command may not see",
  "stage/src/layer/session-layer.ts": "moves a layer",
  "store/src/sqlite/file-blob-store.ts":
    "hands a large content over in pieces, and waits for the disk in another thread",
  "store/src/audit/ledger-key-rotation.ts": "moves a key that is there",
  "store/src/checkpoints/newest-tree.ts": "a draft beside it would be a ref of git",
  "store/src/checkpoints/checkpoint-records.ts": "makes room between the draft and its name",
  "store/src/ledger/accept-rollback.ts": "moves a head that is there",
  "sessions/src/client-workspace/control-mirror.ts": "readers list the directory, so the draft is elsewhere",
  "cli/src/program-loader.ts": "compiled code that may be lost, written before any package is loaded",
  "cli/src/commands/guard/guarded-file.ts": "compares the file once more between the draft and its name",
  "vscode/src/review/unseen-store.ts": "the extension contains nothing of the machine",
};

test("a file is replaced as a whole in one place", () => {
  const found = filesWith(/\brenameSync\b|\bfs(?:\.promises)?\.rename\b|import [^;]*\brename\b[^;]* from "node:fs/);
  expect(found.toSorted()).toEqual(Object.keys(renaming).toSorted());
  for (const [file, reason] of Object.entries(renaming)) expect(reason.length, file).toBeGreaterThan(10);
});

test("words of a shell are quoted in one place", () => {
  expect(filesWith(/'\\+''|'"'"'/).toSorted()).toEqual([
    // Recognizes lines that were quoted.
    "cli/src/commands/guard/hook-settings.ts",
    "governance/src/command/shell-words.ts",
  ]);
});

test("whether a process runs is asked in one place", () => {
  expect(filesWith(/\bkill\([^)\n]*, 0\)/).toSorted()).toEqual([
    // Clients contain nothing of the machine.
    "client/src/node/announced-servers.ts",
    "machine/src/process/is-running.ts",
    // Of a group.
    "machine/src/process/process-group.ts",
    "vscode/src/session/window-claim.ts",
  ]);
});

/** Functions of a file that are not inside of others, as they read without comments and without their own names. */
function functionsOf(
  text: string,
): readonly { readonly name: string; readonly lines: number; readonly body: string }[] {
  const found = text.matchAll(/^(?:export )?(?:async )?function\*? (\w+)(\([\s\S]*?\n\})$/gm);
  return [...found].map(([all, name = "", rest = ""]) => ({
    name,
    lines: all.split("\n").length,
    body: rest
      .replaceAll(/^\s*\/\/.*$/gm, "")
      .replaceAll(new RegExp(String.raw`\b${name}\b`, "g"), "_")
      .replaceAll(/\s+/g, " "),
  }));
}

test("no function of five lines or more is written twice", () => {
  const places = new Map<string, string[]>();
  for (const { file, text } of sources) {
    for (const { name, lines, body } of functionsOf(text)) {
      if (lines < 5) continue;
      places.set(body, [...(places.get(body) ?? []), `${file} ${name}`]);
    }
  }
  expect(places.size).toBeGreaterThan(1_000);
  expect([...places.values()].filter((all) => all.length > 1)).toEqual([]);
});

test("a function that is written again is noticed", () => {
  const [one] = functionsOf("function one(a: number) {\n  // Why.\n  return a;\n}\n");
  const [other] = functionsOf("/** Says it. */\nexport function other(a: number) {\n  return a;\n}\n");
  expect(one?.body).toBe(other?.body);
});
