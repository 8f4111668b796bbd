import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { rebaseStagedTree } from "#proposal/rebase-staged-tree";
import { removeStagedTrees, StagedTree } from "#proposal/staged-tree";

const root = { path: "/workspace" };
const file = (text: string, mode = 0o644) => ({ bytes: Buffer.from(text), mode });
const update = (path: string, base: string | undefined, staged: string | undefined, mode?: number) => ({
  path,
  base: base === undefined ? undefined : file(base),
  staged: staged === undefined ? undefined : file(staged, mode),
  command: "",
});

function contents(stateDir: string): readonly string[] {
  const parent = join(stateDir, "proposals");
  return (existsSync(parent) ? readdirSync(parent) : []).flatMap((name) => {
    const place = join(parent, name, "contents");
    return existsSync(place) ? readdirSync(place) : [];
  });
}

test("what was staged is there when the tree is opened again, and in the view with its mode", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  tree.update([update("a/b.txt", "old", "new", 0o755), update("gone.txt", "gone", undefined)]);
  const again = StagedTree.open(state.root, "one", root);
  expect([...again.files.keys()]).toEqual(["a/b.txt", "gone.txt"]);
  expect(again.digest).toBe(tree.digest);
  expect(readFileSync(join(again.view, "a/b.txt"), "utf8")).toBe("new");
  expect(statSync(join(again.view, "a/b.txt")).mode & 0o777).toBe(0o755);
  expect(existsSync(join(again.view, "gone.txt"))).toBe(false);
});

test("what is as in the workspace again is not staged, and its contents are gone", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  tree.update([update("a.txt", "old", "new"), update("made.txt", undefined, "made")]);
  tree.update([update("a.txt", "old", "old"), update("made.txt", undefined, undefined)]);
  expect(tree.files.size).toBe(0);
  const [place = ""] = readdirSync(join(state.root, "proposals"));
  expect(readdirSync(join(state.root, "proposals", place, "contents"))).toEqual([]);
  expect(readdirSync(tree.view)).toEqual([]);
});

test("a record without one of its contents, or that cannot be read, is none, and says so", async () => {
  await using state = await temporaryDirectory();
  StagedTree.open(state.root, "one", root).update([update("a.txt", "old", "new")]);
  const [name = ""] = readdirSync(join(state.root, "proposals"));
  const record = join(state.root, "proposals", name, "staged.json");
  const text = readFileSync(record, "utf8");
  for (const broken of [text.slice(0, -1), text.replace(/"sha256":"../, '"sha256":"00')]) {
    writeFileSync(record, broken);
    const tree = StagedTree.open(state.root, "one", root);
    expect(tree.wasReadable).toBe(false);
    expect(tree.files.size).toBe(0);
    expect(readdirSync(tree.view)).toEqual([]);
    tree.update([update("a.txt", "old", "new")]);
  }
});

test("more than a person can review is refused, and nothing of it is staged", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  const many = Array.from({ length: 501 }, (_none, index) => update(`${index}.txt`, undefined, `${index}`));
  expect(() => tree.update(many)).toThrow(expect.objectContaining({ code: "too_large" }));
  expect(tree.files.size).toBe(0);
  expect(contents(state.root)).toEqual([]);
  tree.update([update("a.txt", "old", "new")]);
  const much = 11 * 1024 * 1024;
  const twice = (one: object) => [1, 2].map((number) => ({ path: `${number}.bin`, base: 0, staged: 0, ...one }));
  // What goes has to be read as well.
  for (const one of [{ staged: much }, { base: much }]) {
    expect(() => tree.refuseTooMuch(twice(one))).toThrow(expect.objectContaining({ code: "too_large" }));
  }
  tree.refuseTooMuch(twice({ staged: much }).slice(1));
  expect(contents(state.root)).toHaveLength(2);
});

test("what could not be staged leaves no contents", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  tree.update([update("a.txt", "old", "new")]);
  const before = contents(state.root);
  const [name = ""] = readdirSync(join(state.root, "proposals"));
  const inTheWay = join(state.root, "proposals", name, "staged.json.new");
  mkdirSync(inTheWay);
  expect(() => tree.update([update("b.txt", undefined, "more")])).toThrow("EISDIR");
  expect(contents(state.root)).toEqual(before);
  expect([...tree.files.keys()]).toEqual(["a.txt"]);
});

test("a file over which a directory was put, and the other way round, are shown as they are staged", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  tree.update([update("a", "file", "more")]);
  tree.update([update("a", "file", undefined), update("a/b", undefined, "below")]);
  expect(readFileSync(join(tree.view, "a/b"), "utf8")).toBe("below");
  tree.update([update("a/b", undefined, undefined), update("a", "file", "again")]);
  expect(readFileSync(join(tree.view, "a"), "utf8")).toBe("again");
});

test("what is not text is a conflict when the user saves it, until it is as it was", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  tree.update([update("a.bin", "\0old", "\0new")]);
  const conflicts = async (text: string) => {
    const { conflicts: now } = await rebaseStagedTree(tree, async () => file(text));
    return { now, with: tree.files.get("a.bin")?.conflict };
  };
  const user = expect.objectContaining({ mode: 0o644 });
  expect(await conflicts("\0user")).toEqual({ now: ["a.bin"], with: user });
  expect(await conflicts("\0user")).toEqual({ now: [], with: user });
  expect(await conflicts("\0user, again")).toEqual({ now: ["a.bin"], with: user });
  expect(await conflicts("\0old")).toEqual({ now: [], with: null });
  expect(await conflicts("\0new")).toEqual({ now: [], with: undefined });
});

test("a write settles no conflict, unless it is about just what the user saved", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  const save = (text: string) => rebaseStagedTree(tree, async () => file(text));
  tree.update([update("a.txt", "old\n", "mine\n")]);
  await save("user\n");
  const first = tree.files.get("a.txt")?.conflict ?? "unreadable";
  tree.update([update("a.txt", "user\n", "mine, written again\n")]);
  expect(tree.files.get("a.txt")).toMatchObject({ conflict: first });
  await save("user, again\n");
  tree.settle("a.txt", first);
  const second = tree.files.get("a.txt")?.conflict ?? "unreadable";
  expect(second).toMatchObject({ mode: 0o644 });
  expect(second).not.toEqual(first);
  expect(tree.content(typeof second === "string" ? "" : second.sha256).toString()).toBe("user, again\n");
  tree.settle("a.txt", second);
  expect(tree.files.get("a.txt")).toMatchObject({ conflict: null, base: second });
});

test("that long texts cannot be merged is found once, also when other files are staged meanwhile", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  const text = (what: string) =>
    Array.from({ length: 3_000 }, (_, line) => `${what} ${(line * 7_919) % 3_001}\n`).join("");
  tree.update([update("long.txt", text("old"), text("mine"))]);
  let reads = 0;
  vi.spyOn(tree, "content").mockImplementation((sha256) => {
    reads += 1;
    return StagedTree.prototype.content.call(tree, sha256);
  });
  const rebase = async (there: string) => {
    reads = 0;
    const { conflicts } = await rebaseStagedTree(tree, async (path) => (path === "long.txt" ? file(there) : undefined));
    return { conflicts, isCompared: reads > 0 };
  };
  expect(await rebase(text("user"))).toEqual({ conflicts: ["long.txt"], isCompared: true });
  expect(await rebase(text("user"))).toEqual({ conflicts: [], isCompared: false });
  tree.update([update("other.txt", undefined, "new")]);
  expect(await rebase(text("user"))).toEqual({ conflicts: [], isCompared: false });
  // What either side writes is compared again.
  expect(await rebase(text("later"))).toEqual({ conflicts: ["long.txt"], isCompared: true });
  tree.update([update("long.txt", text("old"), text("mine, again"))]);
  expect(await rebase(text("later"))).toEqual({ conflicts: [], isCompared: true });
});

test("what cannot be looked at stays staged, a delete too, as a conflict that ends by itself", async () => {
  await using state = await temporaryDirectory();
  const tree = StagedTree.open(state.root, "one", root);
  tree.update([update("gone.txt", "old", undefined), update("new.txt", undefined, "new")]);
  const { conflicts, landed } = await rebaseStagedTree(tree, async () => "unreadable");
  expect({ conflicts, landed }).toEqual({ conflicts: ["gone.txt", "new.txt"], landed: [] });
  tree.settle("gone.txt", "unreadable");
  expect([...tree.files.values()].map(({ conflict }) => conflict)).toEqual(["unreadable", "unreadable"]);
  await rebaseStagedTree(tree, async (path) => (path === "gone.txt" ? file("old") : undefined));
  expect([...tree.files.values()].map(({ conflict }) => conflict)).toEqual([null, null]);
});

test("trees are removed by their session", async () => {
  await using state = await temporaryDirectory();
  for (const session of ["one", "two"]) {
    StagedTree.open(state.root, session, root).update([update("a.txt", undefined, session)]);
  }
  removeStagedTrees(state.root, ({ session }) => session === "one");
  expect(readdirSync(join(state.root, "proposals"))).toHaveLength(1);
  expect(StagedTree.open(state.root, "one", root).files.size).toBe(0);
  expect(StagedTree.open(state.root, "two", root).files.size).toBe(1);
});
