import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Files, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { recoverChanges } from "#stages/recover-changes";

// Journals as version 0.2 wrote them: of a set of four files, and of a command.

const a = "a".repeat(30);
const b = "b".repeat(30);
const sha = {
  a: "3a54fc0cbc0b0ef48b6507b7788096235d10292dd3ae24e22f5aa062d4f9864a",
  b: "7a3f7ddc3d6aa0a3fb4fb4c965e0c3f37991ce1be5ed24fc98dcd318cb287e32",
};
const preImage = '{"bytes":"YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh","mode":420,"owner":0,"group":0}';
const ofFiles = `{"version":1,"root":ROOT,"directories":["new","new/deep"],"changes":[
{"operation":"update","path":"one","before":"${sha.a}","after":"${sha.b}","temporary":".gennai-tmp-a1a03f12336fa7b1e7","preImage":${preImage}},
{"operation":"update","path":"dir/two","before":"${sha.a}","after":"${sha.b}","temporary":".gennai-tmp-5257204a092d9ffa85","preImage":${preImage}},
{"operation":"create","path":"new/deep/three","before":null,"after":"${sha.b}","temporary":".gennai-tmp-6d57417916fcd0c447","preImage":null},
{"operation":"delete","path":"single","before":"${sha.a}","after":null,"temporary":".gennai-tmp-0bb7ae70d77bea9671","preImage":${preImage}}]}`;
const before = { one: a, "dir/two": a, single: a };
const after = { one: b, "dir/two": b, "new/deep/three": b };
const ready = {
  ".gennai-tmp-a1a03f12336fa7b1e7": b,
  "dir/.gennai-tmp-5257204a092d9ffa85": b,
  "new/deep/.gennai-tmp-6d57417916fcd0c447": b,
};
const halfWay = {
  one: b,
  "dir/two": a,
  "dir/.gennai-tmp-5257204a092d9ffa85": b,
  "new/deep/.gennai-tmp-6d57417916fcd0c447": b,
  single: a,
};

test.each<[string, Files, Files, string]>([
  ["before anything was changed", { ...before, ...ready }, before, "removed"],
  ["before all was ready", { ...before, ".gennai-tmp-a1a03f12336fa7b1e7": "b" }, before, "removed"],
  ["after the first file", halfWay, after, "finished"],
  ["before the last file", { ...after, single: a }, after, "finished"],
  ["after all", after, after, "finished"],
])("a set of files that was killed %s is all or nothing", async (_, found, expected, state) => {
  await using place = await written(found);
  expect(await recoverChanges(place.state)).toEqual([{ id: "7-1-0-1.json", state }]);
  expect(await place.files()).toEqual(expected);
  expect(readdirSync(join(place.state, "workspace-journals"))).toEqual([]);
});

test("of a set of files that somebody changed since, nothing is touched, and its journal stays", async () => {
  const found = { ...halfWay, single: "mine" };
  await using place = await written(found);
  expect(await recoverChanges(place.state)).toMatchObject([{ id: "7-1-0-1.json", state: "stuck" }]);
  expect(await place.files()).toEqual(found);
});

test("a blank journal of one file is removed", async () => {
  await using place = await written(before, " ".repeat(4096));
  expect(await recoverChanges(place.state)).toEqual([]);
  expect(readdirSync(join(place.state, "workspace-journals"))).toEqual([]);
});

test.runIf(process.platform === "linux")("a commit of a command is completed, or taken back", async () => {
  for (const isInTheWay of [false, true]) {
    await using place = await written({ "a.txt": "a\n", "b.txt": "b\n" }, "");
    const directory = join(place.state, "stages/7-1-0-1");
    const own = join(directory, "root-0");
    for (const part of ["fresh", "old"]) mkdirSync(join(own, part), { recursive: true });
    writeFileSync(join(own, "fresh/0"), "a\nmore\n");
    const before = { a: seen(join(place.root, "a.txt")), b: seen(join(place.root, "b.txt")) };
    const journal = `{"version":1,"markers":["1795937753542874729"],"operations":[{"root":0,"path":"a.txt","name":"0","before":${before.a},"after":${seen(join(own, "fresh/0"))}},{"root":0,"path":"b.txt","name":"1","before":${before.b},"after":null}],"locks":[]}`;
    writeFileSync(
      join(directory, "transaction.json"),
      `{"version":1,"roots":[${place.identity.slice(0, -1)},"places":["${own}"]}]}`,
    );
    writeFileSync(join(directory, "committing.json"), journal);
    renameSync(join(place.root, "a.txt"), join(own, "old/0"));
    if (isInTheWay) writeFileSync(join(place.root, "b.txt"), "mine");
    const [recovered] = await recoverChanges(place.state);
    expect(recovered).toEqual({ id: "7-1-0-1", state: isInTheWay ? "taken_back" : "finished" });
    expect(await place.files()).toEqual(isInTheWay ? { "a.txt": "a\n", "b.txt": "mine" } : { "a.txt": "a\nmore\n" });
    expect(existsSync(directory)).toBe(false);
  }
});

function seen(path: string): string {
  const { ino, size, mtimeNs, mode } = lstatSync(path, { bigint: true });
  return `{"type":"file","inode":"${ino}","size":"${size}","mtimeNs":"${mtimeNs}","mode":${Number(mode) & 0o7777}}`;
}

async function written(files: Files, journal = ofFiles) {
  const directory = await temporaryDirectory(
    Object.fromEntries(Object.entries(files).map(([path, content]) => [`ws/${path}`, content])),
  );
  const root = directory.path("ws");
  const { dev: device, ino: inode } = lstatSync(root);
  const identity = JSON.stringify({ path: root, device, inode });
  if (journal !== "") await directory.write("state/workspace-journals/7-1-0-1.json", journal.replace("ROOT", identity));
  return {
    root,
    identity,
    state: directory.path("state"),
    files: async () => {
      const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const paths = entries.map(({ parentPath, name }) => relative(root, join(parentPath, name)));
      return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
