import { sha256Hex } from "@gennai/protocol/digest";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyChangeSet } from "../../src/apply/apply-change-set.ts";
import { ChangeSets } from "../../src/apply/change-sets.ts";
import type { FinalChange } from "../../src/apply/final-change.ts";
import { FakeDocument, FakeFiles } from "../fake-files.ts";

const { signal } = new AbortController();
const options = { save: "clean", signal } as const;

const update = (path: string, base: string, text: string): FinalChange => ({
  operation: "update",
  path,
  text,
  baseSha256: sha256Hex(base),
});
const create = (path: string, text: string): FinalChange => ({ operation: "create", path, bytes: Buffer.from(text) });
const remove = (path: string, base: string): FinalChange => ({
  operation: "delete",
  path,
  baseSha256: sha256Hex(base),
});

const set = [
  update("a.txt", "a\n", "A\n"),
  update("b.txt", "b\n", "B\n"),
  create("new.txt", "new\n"),
  remove("gone.txt", "gone\n"),
];

async function scene() {
  const directory = await temporaryDirectory({ "a.txt": "a\n", "b.txt": "b\n", "gone.txt": "gone\n" });
  const files = new FakeFiles();
  const contents = async () => {
    const read = (name: string) => directory.read(name).catch(() => undefined);
    return { a: await read("a.txt"), b: await read("b.txt"), new: await read("new.txt"), gone: await read("gone.txt") };
  };
  return { ...directory, directory, files, contents };
}

const untouched = { a: "a\n", b: "b\n", new: undefined, gone: "gone\n" };

test.each([
  ["the editor refuses the first edit", (files: FakeFiles) => void (files.failEdit = () => true)],
  ["the editor stops half-way", (files: FakeFiles) => void (files.failEdit = once((path) => path.endsWith("new.txt")))],
  [
    "the editor stops at the last",
    (files: FakeFiles) => void (files.failEdit = once((path) => path.endsWith("gone.txt"))),
  ],
  ["a file cannot be saved", (files: FakeFiles) => void (files.failSave = once((path) => path.endsWith("b.txt")))],
  [
    "saving fails loudly",
    (files: FakeFiles) => {
      let failed = false;
      files.failSave = (path) => {
        if (failed || !path.endsWith("b.txt")) return false;
        failed = true;
        throw new Error("disk full");
      };
    },
  ],
])("all is as it was when %s", async (_, spoil) => {
  const at = await scene();
  await using _directory = at.directory;
  spoil(at.files);
  await expect(applyChangeSet(at.files, at.root, set, options)).rejects.toMatchObject({
    code: expect.stringMatching(/^not_(applied|saved)$/),
    message: expect.stringMatching(/^Nothing was applied/),
  });
  expect(await at.contents()).toEqual(untouched);
  for (const document of at.files.documents.values()) expect(document.isDirty).toBe(false);
});

test("what cannot be taken back is named", async () => {
  const at = await scene();
  await using _directory = at.directory;
  at.files.failSave = (path) => path.endsWith("b.txt");
  await expect(applyChangeSet(at.files, at.root, set, options)).rejects.toMatchObject({
    code: "not_restored",
    message: expect.stringContaining("b.txt"),
  });
});

test("every file that stands against the set is named", async () => {
  const at = await scene();
  await using _directory = at.directory;
  const changes = [update("a.txt", "other", "x"), update("b.txt", "other", "y"), create("gone.txt", "z")];
  const failed = applyChangeSet(at.files, at.root, changes, options);
  await expect(failed).rejects.toThrow(/a\.txt[^]*b\.txt[^]*gone\.txt/);
  expect(at.files.edited).toEqual([]);
});

type Scene = Awaited<ReturnType<typeof scene>>;

test.each([
  ["typing", async (at: Scene) => (await at.files.loadDocument(at.path("a.txt"))).edit("mine\n", undefined)],
  ["a save of somebody else's", (at: Scene) => at.directory.write("b.txt", "mine\n")],
])("%s between the check and the edit is not overwritten", async (_, meanwhile) => {
  const at = await scene();
  await using _directory = at.directory;
  const writable = at.files.isWritable.bind(at.files);
  at.files.isWritable = async (path) => {
    if (path.endsWith("gone.txt")) await meanwhile(at);
    return writable(path);
  };
  await expect(applyChangeSet(at.files, at.root, set, options)).rejects.toMatchObject({ code: "stale_file" });
  expect(at.files.edited).toEqual([]);
});

test("an aborted request applies nothing", async () => {
  const at = await scene();
  await using _directory = at.directory;
  const aborted = { ...options, signal: AbortSignal.abort(new Error("over")) };
  await expect(applyChangeSet(at.files, at.root, set, aborted)).rejects.toThrow("over");
  expect(await at.contents()).toEqual(untouched);
});

test("a character that the encoding lacks, and bytes that it cannot give back, are refused", async () => {
  const at = await scene();
  await using _directory = at.directory;
  await at.write("l.txt", Buffer.from([0xe4]));
  at.files.documents.set(at.path("l.txt"), new FakeDocument(at.files, at.path("l.txt"), Buffer.from([0xe4]), "latin1"));
  const base = sha256Hex(Uint8Array.of(0xe4));
  const change = (text: string): FinalChange => ({ operation: "update", path: "l.txt", text, baseSha256: base });
  await expect(applyChangeSet(at.files, at.root, [change("色")], options)).rejects.toMatchObject({
    code: "unsupported_encoding",
  });
  at.files.documents.delete(at.path("l.txt"));
  await expect(applyChangeSet(at.files, at.root, [change("a")], options)).rejects.toMatchObject({
    code: "unsupported_encoding",
  });
});

const piece = fc.constantFrom("a", "b", "ä", "😀", "\n", "\r\n", "\r", " ");
const content = fc
  .tuple(fc.constantFrom("", "\uFEFF"), fc.array(piece, { maxLength: 12 }))
  .map(([mark, pieces]) => mark + pieces.join(""));

test("bytes after are the text: every line end, and the mark of the file", async () => {
  await using directory = await temporaryDirectory();
  await fc.assert(
    fc.asyncProperty(content, content, async (before, after) => {
      await directory.write("x.txt", before);
      const sets = new ChangeSets({ files: new FakeFiles(), workspace: directory.root });
      await sets.apply([update("x.txt", before, after)], { save: "clean", signal });
      const mark = before.startsWith("\uFEFF") ? "\uFEFF" : "";
      expect(await directory.read("x.txt")).toBe(mark + after.replace(/^\uFEFF/, ""));
    }),
    { numRuns: 150 },
  );
});

test.each([
  ["line ends of both kinds become one", "a\r\nb\n", "a\r\nb\r\n"],
  ["a line end that is none of the editor's becomes one", "a\r\nb\r", "a\r\nb\r\n"],
])("%s where the editor has nothing to save", async (_, before, after) => {
  await using directory = await temporaryDirectory({ "x.txt": before });
  const sets = new ChangeSets({ files: new FakeFiles(), workspace: directory.root });
  const [file] = await sets.apply([update("x.txt", before, after)], { save: "clean", signal });
  expect(await directory.read("x.txt")).toBe(after);
  expect(file?.afterSha256).toBe(sha256Hex(after));
});

test("sets are applied one after the other, in order, and one that cannot be keeps none from its turn", async () => {
  await using directory = await temporaryDirectory({ "a.txt": "0" });
  const jobs = new Map<string, () => Promise<void>>();
  const files = new (class extends FakeFiles {
    override async applyEdits(edits: Parameters<FakeFiles["applyEdits"]>[0]): Promise<boolean> {
      const created = edits.find(({ type }) => type === "create");
      await jobs.get(created?.absolute ?? "")?.();
      return super.applyEdits(edits);
    }
  })();
  const sets = new ChangeSets({ files, workspace: directory.root });
  const apply = (job: () => Promise<void>, number: number) => {
    jobs.set(directory.path(`${number}.txt`), job);
    // Each but the failed one goes on from what the one before it left.
    const before = number === 3 ? "1" : String(number - 1);
    const changes = [update("a.txt", before, String(number)), create(`${number}.txt`, "")];
    return sets.apply(changes, { save: "clean", signal });
  };
  expect(await raceJobs(apply)).toEqual(oneAfterTheOther);
  expect(await directory.read("a.txt")).toBe("4");
});

/** True the first time it holds. */
function once(holds: (path: string) => boolean): (path: string) => boolean {
  let spent = false;
  return (path) => {
    if (spent || !holds(path)) return false;
    spent = true;
    return true;
  };
}

test("an auto save that was faster counts as saved", async () => {
  const at = await scene();
  await using _directory = at.directory;
  const document = await at.files.loadDocument(at.path("a.txt"));
  const save = document.save.bind(document);
  document.save = async () => {
    await save();
    return false;
  };
  await applyChangeSet(at.files, at.root, [update("a.txt", "a\n", "A\n")], options);
  expect(await at.directory.read("a.txt")).toBe("A\n");
});
