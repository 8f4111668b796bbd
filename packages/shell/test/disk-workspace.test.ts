import { symlinkSync } from "node:fs";
import { sha256Hex } from "@gennai/protocol/digest";
import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test } from "vitest";
import { heldWorkspaceId } from "#client-workspace-id";
import { DiskWorkspace } from "#disk-workspace";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});
const signal = new AbortController().signal;

async function held(files: Files) {
  const outside = await temporaryDirectory({ "secret.txt": "secret" });
  const repository = await temporaryRepository(files);
  open.push(outside, repository);
  await repository.git("checkout", "--quiet", "-b", "work");
  const workspace = new DiskWorkspace({
    root: repository.root,
    id: "0123456789abcdef",
    stateDir: outside.root,
    ownDirectories: [outside.root, repository.path("own")],
    environment: { PATH: process.env["PATH"] ?? "" },
  });
  return { outside, repository, workspace };
}

const rewrite = (path: string, text: string, base: string) => ({
  path,
  bytes: new TextEncoder().encode(text),
  baseSha256: base === "" ? "" : sha256Hex(base),
  mode: undefined,
  emptied: [],
});

test("no link is followed out, to read, to write or to run", async () => {
  const { outside, repository, workspace } = await held({ "a.txt": "a" });
  symlinkSync(outside.root, repository.path("out"));
  const refused = { name: "ClientWorkspaceError", failureClass: "permission_denied" };
  await expect(workspace.read("out/secret.txt", { maxBytes: 99, signal })).rejects.toMatchObject(refused);
  await expect(workspace.change({ changes: [rewrite("out/new.txt", "x", "")], branch: "" })).rejects.toMatchObject({
    name: "ClientWorkspaceError",
  });
  const run = { command: "touch made", cwd: "out", timeoutMs: 5000, readsOnly: false };
  await expect(workspace.run(run, { signal, onOutput: () => {} })).rejects.toMatchObject({ code: "bad_directory" });
  expect(await workspace.resolve("out/secret.txt")).toMatchObject({ inside: false, relative: "" });
  await expect(outside.read("new.txt")).rejects.toThrow("ENOENT");
  await expect(outside.read("made")).rejects.toThrow("ENOENT");
});

test("this program's own files stay its own", async () => {
  const { workspace } = await held({ "own/token": "token", "a.txt": "a" });
  await expect(workspace.read("own/token", { maxBytes: 99, signal })).rejects.toMatchObject({
    code: "permission_denied",
  });
  await expect(workspace.change({ changes: [rewrite("own/x", "x", "")], branch: "" })).rejects.toMatchObject({
    code: "permission_denied",
  });
  const found = await workspace.find({ pattern: "**", base: "", limit: 10, exclude: [] }, { signal });
  expect(found.paths).toEqual(["a.txt"]);
});

test("nothing is written on another branch than the server thinks of", async () => {
  const { repository, workspace } = await held({ "a.txt": "a" });
  await expect(workspace.change({ changes: [rewrite("a.txt", "b", "a")], branch: "main" })).rejects.toMatchObject({
    code: "branch_moved",
  });
  expect(await repository.read("a.txt")).toBe("a");
  const changed = await workspace.change({ changes: [rewrite("a.txt", "b", "a")], branch: "work" });
  expect(changed).toMatchObject([{ beforeSha256: sha256Hex("a"), afterSha256: sha256Hex("b") }]);
});

test("control files come with what is wrong with them, and with where HEAD is", async () => {
  const { outside, repository, workspace } = await held({
    ".gennai/rules.yaml": "tools: {}\n",
    ".gennai/scenarios/deep/x.yaml": "x",
    "AGENTS.md": "notes",
  });
  symlinkSync(outside.path("secret.txt"), repository.path(".gennai/config.yaml"));
  const control = await workspace.readControl({
    files: ["AGENTS.md", "CLAUDE.md"],
    directories: [".gennai", ".claude"],
  });
  expect(control.files.map(({ path, problem }) => [path, problem])).toEqual([
    [".gennai/config.yaml", "leads out of the workspace; copy the file in"],
    [".gennai/rules.yaml", ""],
    [".gennai/scenarios/deep/x.yaml", ""],
    ["AGENTS.md", ""],
  ]);
  expect(Buffer.from(control.files[0]?.bytes ?? []).toString()).toBe("");
  expect(control.git).toMatchObject({ branch: "work", commit: await repository.git("rev-parse", "HEAD") });
});

test("a directory keeps its id, and no other has it", async () => {
  const state = await temporaryDirectory();
  open.push(state);
  const id = await heldWorkspaceId(state.root, "/w");
  expect(id).toMatch(/^[0-9a-f]{40}$/);
  expect(await heldWorkspaceId(state.root, "/w")).toBe(id);
  expect(await heldWorkspaceId(state.root, "/w2")).not.toBe(id);
});
