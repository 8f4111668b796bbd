import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { applyChanges } from "#workspace/apply-changes";
import { sha256 } from "#workspace/files/content-digest";
import type { DiskChange } from "#workspace/inspect-change";
import { openLocalWorkspace } from "#workspace/local-workspace";
import { openWorkspaceRoot } from "#workspace/paths/workspace-root";
import type { WorkspaceChange } from "#workspace/workspace";

const bytes = (text: string): Uint8Array => Buffer.from(text);

test("nothing changes before what must be ready is, and the new file is prepared meanwhile", async () => {
  await using scene = await workspaceWith("old");
  let makeReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => (makeReady = resolve));
  const applied = scene.replace("new", ready);
  await expect.poll(() => scene.names()).toContainEqual(expect.stringMatching(/^\.gennai-tmp-/));
  expect(scene.content()).toBe("old");
  makeReady();
  await applied;
  expect([scene.content(), scene.names()]).toEqual(["new", ["file"]]);
});

test("what fails before a change is the change's failure, as it is, and leaves everything as it was", async () => {
  await using scene = await workspaceWith("old");
  // The file system's errors become failures of the file that is changed; this one is of something else.
  const failure = Object.assign(new Error("The store's disk is full."), { code: "ENOSPC" });
  await expect(scene.replace("new", Promise.reject(failure))).rejects.toBe(failure);
  expect([scene.content(), scene.names()]).toEqual(["old", ["file"]]);
  await scene.replace("new");
  expect([scene.content(), scene.names()]).toEqual(["new", ["file"]]);
});

test.runIf(process.platform !== "win32")("links and large files are parts of a set, and go back with it", async () => {
  await using directory = await temporaryDirectory({ "ws/big": new Uint8Array(17 * 1024 * 1024), "ws/file": "f" });
  const root = directory.path("ws");
  const at = (path: string) => join(root, path);
  symlinkSync("file", at("link"));
  symlinkSync("gone", at("other"));
  const workspace = openLocalWorkspace(root, { stateDir: directory.path("state") });
  const path = (raw: string) => ({ raw, relative: raw, absolute: at(raw), inside: true });
  const link = { isBaseLink: true } as const;
  const changes: readonly WorkspaceChange[] = [
    { operation: "delete", path: path("big"), baseSha256: sha256(readFileSync(at("big"))) },
    { operation: "update", path: path("link"), bytes: bytes("now a file"), baseSha256: sha256(bytes("file")), ...link },
    {
      operation: "update",
      path: path("file"),
      bytes: bytes("../a link"),
      isLink: true,
      baseSha256: sha256(bytes("f")),
    },
    { operation: "create", path: path("deep/new"), bytes: bytes("file"), isLink: true },
    { operation: "delete", path: path("other"), baseSha256: sha256(bytes("gone")), ...link },
  ];
  const change = async (): Promise<void> => {
    await expect.poll(() => readdirSync(root)).toContainEqual(expect.stringMatching(/^\.gennai-tmp-/));
    rmSync(at("other"));
    symlinkSync("mine", at("other"));
  };
  const applied = workspace.apply(changes, { ready: change() });
  await expect(applied).rejects.toMatchObject({
    code: "stale_file",
    message: expect.stringMatching(/^Stale File: other/),
  });
  expect([lstatSync(at("big")).size, readlinkSync(at("link")), readFileSync(at("file"), "utf8")]).toEqual([
    17 * 1024 * 1024,
    "file",
    "f",
  ]);
  expect([readlinkSync(at("other")), readdirSync(root).toSorted()]).toEqual(["mine", ["big", "file", "link", "other"]]);
  rmSync(at("other"));
  symlinkSync("gone", at("other"));
  await workspace.apply(changes);
  expect([readFileSync(at("link"), "utf8"), readlinkSync(at("file")), readlinkSync(at("deep/new"))]).toEqual([
    "now a file",
    "../a link",
    "file",
  ]);
  expect(readdirSync(root, { recursive: true }).map(String).toSorted()).toEqual(["deep", "deep/new", "file", "link"]);
});

async function workspaceWith(text: string) {
  const directory = await temporaryDirectory({ "ws/file": text });
  const root = directory.path("ws");
  const workspace = openLocalWorkspace(root, { stateDir: directory.path("state") });
  const content = () => readFileSync(join(root, "file"), "utf8");
  return {
    content,
    names: () => readdirSync(root),
    replace: async (after: string, ready?: Promise<void>) => {
      const path = await workspace.resolve("file");
      const change = { operation: "update", path, bytes: bytes(after), baseSha256: sha256(bytes(content())) } as const;
      return workspace.apply([change], ready === undefined ? {} : { ready });
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

test.runIf(process.platform !== "win32")(
  "a file is copied over another, and modes change alone: all or none",
  async () => {
    await using directory = await temporaryDirectory({ "ws/a": "a", "ws/b": "b", "old/c": "c", "old/d": "d" });
    const root = openWorkspaceRoot(directory.path("ws"), { stateDir: directory.path("state"), home: "/nowhere" });
    const at = (name: string) => join(root.path, name);
    const path = (raw: string) => ({ raw, relative: raw, absolute: at(raw), inside: true });
    const digest = (text: string) => sha256(bytes(text));
    const source = (name: string, text = name) => ({ path: directory.path(`old/${name}`), sha256: digest(text) });
    const look = () => {
      const names = readdirSync(root.path, { recursive: true, encoding: "utf8" }).toSorted();
      return names.map((name) => {
        const stat = lstatSync(at(name));
        return [name, (stat.mode & 0o777).toString(8), stat.isFile() ? readFileSync(at(name), "utf8") : ""].join(" ");
      });
    };
    chmodSync(at("a"), 0o644);
    chmodSync(at("b"), 0o640);
    const inode = lstatSync(at("b")).ino;
    const before = look();
    const mode = { operation: "mode", path: path("b"), baseSha256: digest("b"), mode: 0o600 } as const;
    const over = { operation: "copy", path: path("a"), source: source("c"), baseSha256: digest("a") } as const;
    const broken = {
      operation: "copy",
      path: path("new"),
      source: source("d", "other"),
      baseSha256: undefined,
    } as const;
    const apply = (...changes: readonly DiskChange[]) => applyChanges(root, directory.path("state"), changes);
    await expect(apply(mode, over, broken)).rejects.toMatchObject({ code: "content_gone" });
    await expect(apply(mode, { ...over, baseSha256: digest("x") })).rejects.toMatchObject({ code: "stale_file" });
    await expect(apply({ ...mode, baseSha256: digest("x") }, over)).rejects.toMatchObject({ code: "stale_file" });
    expect(look()).toEqual(before);

    await apply(mode, over, { ...broken, path: path("deep/new"), source: source("d"), mode: 0o755 });
    const [deep = ""] = look().filter((line) => line.startsWith("deep "));
    expect(look()).toEqual(["a 644 c", "b 600 b", deep, "deep/new 755 d"]);
    expect(lstatSync(at("b")).ino).toBe(inode);
    expect(readdirSync(directory.path("old"))).toEqual(["c", "d"]);
  },
);
