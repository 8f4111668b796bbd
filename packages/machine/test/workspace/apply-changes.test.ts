import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { sha256 } from "#workspace/files/content-digest";
import { openLocalWorkspace } from "#workspace/local-workspace";

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
