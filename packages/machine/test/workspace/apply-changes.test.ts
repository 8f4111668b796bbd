import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { sha256 } from "#workspace/files/content-digest";
import { openLocalWorkspace } from "#workspace/local-workspace";
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
