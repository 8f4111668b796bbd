import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { sha256Hex } from "@gennai/protocol/digest";
import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test } from "vitest";
import { ClientFolder } from "../../src/client-workspace/client-folder.ts";
import type { FolderEntryKind, FolderFiles } from "../../src/client-workspace/folder-files.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});
const signal = new AbortController().signal;

/** VS Code's file system as it is over a disk. */
class DiskFiles implements FolderFiles {
  readonly dirty = new Set<string>();
  /** Paths that cannot be written. */
  readonly broken = new Set<string>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async stat(path: string) {
    const found = lstatSync(join(this.#root, path), { throwIfNoEntry: false });
    return found && { kind: kindOf(found), size: found.size, changed: found.mtimeMs };
  }

  async entries(path: string) {
    return readdirSync(join(this.#root, path), { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
    }));
  }

  async read(path: string) {
    return new Uint8Array(readFileSync(join(this.#root, path)));
  }

  async write(path: string, bytes: Uint8Array) {
    if (this.broken.has(path)) throw new Error("The file system is full.");
    mkdirSync(dirname(join(this.#root, path)), { recursive: true });
    writeFileSync(join(this.#root, path), bytes);
  }

  async remove(path: string) {
    const absolute = join(this.#root, path);
    if (lstatSync(absolute).isDirectory()) rmdirSync(absolute);
    else rmSync(absolute);
  }

  isDirty(path: string): boolean {
    return this.dirty.has(path);
  }
}

function kindOf(entry: { isSymbolicLink(): boolean; isDirectory(): boolean; isFile(): boolean }): FolderEntryKind {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}

async function held(content: Files) {
  const outside = await temporaryDirectory({ "secret.txt": "secret" });
  const repository = await temporaryRepository(content);
  open.push(outside, repository);
  await repository.git("checkout", "--quiet", "-b", "work");
  const files = new DiskFiles(repository.root);
  const facts = { id: "0123456789abcdef", name: "w", root: repository.root, home: "/home", platform: "web" };
  return { outside, repository, files, folder: new ClientFolder(files, { ...facts, commands: "none" }) };
}

const rewrite = (path: string, text: string | undefined, base: string) => ({
  bytes: text === undefined ? undefined : new TextEncoder().encode(text),
  path,
  baseSha256: base === "" ? "" : sha256Hex(base),
  mode: undefined,
  emptied: [] as string[],
});

test("paths lead where they say, and links lead nowhere", async () => {
  const { outside, repository, folder } = await held({ "src/a.ts": "a" });
  symlinkSync(outside.root, repository.path("out"));
  symlinkSync("src", repository.path("linked"));
  const { root } = repository;
  expect(await folder.resolve("src/../src//a.ts")).toEqual({
    relative: "src/a.ts",
    absolute: `${root}/src/a.ts`,
    inside: true,
  });
  expect(await folder.resolve(".")).toEqual({ relative: "", absolute: root, inside: true });
  expect(await folder.resolve(`${root}/new/x`)).toMatchObject({ relative: "new/x", inside: true });
  for (const raw of ["..", "../x", "/etc/passwd", `${root}2/x`]) {
    expect(await folder.resolve(raw)).toMatchObject({ relative: "", inside: false });
  }
  for (const path of ["out/secret.txt", "out", "linked/a.ts"]) {
    await expect(folder.resolve(path)).rejects.toMatchObject({ code: "bad_path" });
    await expect(folder.read(path, { maxBytes: 99 })).rejects.toMatchObject({ name: "ClientWorkspaceError" });
    await expect(folder.change({ changes: [rewrite(`${path}/new`, "x", "")], branch: "" })).rejects.toMatchObject({
      name: "ClientWorkspaceError",
    });
  }
  expect(readdirSync(outside.root)).toEqual(["secret.txt"]);
});

test("changes are all made or none, each against its base", async () => {
  const { repository, files, folder } = await held({ "a.txt": "a", "b.txt": "b" });
  const made = await folder.change({
    changes: [rewrite("a.txt", "A", "a"), rewrite("new/deep/c.txt", "c", ""), rewrite("b.txt", undefined, "b")],
    branch: "work",
  });
  expect(made).toMatchObject([
    { beforeSha256: sha256Hex("a"), afterSha256: sha256Hex("A") },
    { beforeSha256: undefined, afterSha256: sha256Hex("c"), madeDirectories: ["new", "new/deep"] },
    { beforeSha256: sha256Hex("b"), afterSha256: undefined },
  ]);
  const back = { ...rewrite("new/deep/c.txt", undefined, "c"), emptied: ["new", "new/deep"] };
  await folder.change({ changes: [back], branch: "" });
  expect(readdirSync(repository.root).sort()).toEqual([".git", "a.txt"]);

  files.broken.add("z.txt");
  await expect(
    folder.change({
      changes: [rewrite("a.txt", "B", "A"), rewrite("d.txt", "d", ""), rewrite("z.txt", "z", "")],
      branch: "",
    }),
  ).rejects.toThrow("full");
  expect(await repository.read("a.txt")).toBe("A");
  expect(readdirSync(repository.root).sort()).toEqual([".git", "a.txt"]);
});

test.each([
  ["changed since", rewrite("a.txt", "x", "other"), "stale_file"],
  ["there already", rewrite("a.txt", "x", ""), "stale_file"],
  ["gone", rewrite("gone.txt", "x", "was"), "stale_file"],
  ["a directory", rewrite("src", "x", ""), "not_a_file"],
  ["not saved in an editor", rewrite("dirty.txt", "x", "d"), "unsaved_changes"],
])("a file that is %s is not written, nor is any other of its set", async (_, change, code) => {
  const { repository, files, folder } = await held({ "a.txt": "a", "b.txt": "b", "src/c.txt": "c", "dirty.txt": "d" });
  files.dirty.add("dirty.txt");
  const changes = [rewrite("b.txt", "B", "b"), change];
  await expect(folder.change({ changes, branch: "" })).rejects.toMatchObject({ code });
  expect([await repository.read("a.txt"), await repository.read("b.txt")]).toEqual(["a", "b"]);
  await expect(folder.change({ changes: [rewrite("b.txt", "B", "b")], branch: "main" })).rejects.toMatchObject({
    code: "branch_moved",
  });
});

test("of writers with one base one wins", async () => {
  const { repository, folder } = await held({ "a.txt": "a" });
  const results = await Promise.allSettled(
    ["1", "2", "3", "4"].map((text) => folder.change({ changes: [rewrite("a.txt", text, "a")], branch: "" })),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await repository.read("a.txt")).toBe("1");
});

test("searches as ripgrep does: what git ignores, hides or excludes is left out", async () => {
  const { folder } = await held({
    ".gitignore": "dist/\n*.log\n",
    "src/.gitignore": "made.ts\n",
    "src/a.ts": "one\nTwo\nthree\n",
    "src/made.ts": "two\n",
    "b.md": "two\r\nfour\n",
    "dist/x.ts": "two\n",
    "y.log": "two\n",
    ".hidden": "two\n",
    "secret/k.ts": "two\n",
    "image.bin": "two\0",
  });
  const found = (pattern: string, base = "") =>
    folder.find({ pattern, base, limit: 99, exclude: ["secret/**"] }, { signal });
  expect([...(await found("*.ts")).paths].sort()).toEqual(["src/a.ts"]);
  expect([...(await found("**")).paths].sort()).toEqual(["b.md", "image.bin", "src/a.ts"]);
  expect((await found("*.ts", "src")).paths).toEqual(["src/a.ts"]);
  const query = { pattern: "t.o$", base: "", glob: "", context: 0, limit: 99, exclude: ["secret/**"] };
  const search = (more: object) =>
    folder.search({ ...query, caseSensitive: false, output: "content" as const, ...more }, { signal });
  expect((await search({})).lines).toEqual(["b.md:1:two", "src/a.ts:2:Two"]);
  expect((await search({ caseSensitive: true })).lines).toEqual(["b.md:1:two"]);
  expect((await search({ output: "files", glob: "*.ts" })).lines).toEqual(["src/a.ts"]);
  expect((await search({ output: "count" })).lines).toEqual(["b.md:1", "src/a.ts:1"]);
  expect((await search({ context: 1, base: "src/a.ts" })).lines).toEqual([
    ...["src/a.ts-1-one", "src/a.ts:2:Two", "src/a.ts-3-three"],
  ]);
  expect(await search({ limit: 1 })).toMatchObject({ lines: ["b.md:1:two"], truncated: true });
  await expect(search({ pattern: "(" })).rejects.toMatchObject({ code: "bad_pattern" });
  const began = performance.now();
  await search({ pattern: "(a+)+$" });
  expect(performance.now() - began).toBeLessThan(2000);
});

test("control files come with what is wrong with them, and with where HEAD is", async () => {
  const { outside, repository, folder } = await held({ ".gennai/scenarios/x.yaml": "x", "AGENTS.md": "notes" });
  symlinkSync(outside.path("secret.txt"), repository.path(".gennai/config.yaml"));
  const control = await folder.readControl({ files: ["AGENTS.md", "CLAUDE.md"], directories: [".gennai", ".claude"] });
  expect(control.files.map(({ path, problem }) => [path, problem === ""])).toEqual([
    [".gennai/config.yaml", false],
    [".gennai/scenarios/x.yaml", true],
    ["AGENTS.md", true],
  ]);
  const commit = await repository.git("rev-parse", "HEAD");
  expect(control.git).toEqual({ branch: "work", commit, remoteDefault: "", hooksPath: "" });
  await repository.git("pack-refs", "--all");
  expect((await folder.readControl({ files: [], directories: [] })).git).toMatchObject({ branch: "work", commit });
  await repository.git("checkout", "--quiet", "--detach");
  expect((await folder.readControl({ files: [], directories: [] })).git).toMatchObject({ branch: "", commit });
});
