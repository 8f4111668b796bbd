import { createHash } from "node:crypto";
import { mkdir, symlink } from "node:fs/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { editorFile, pathInWorkspace, writtenFile } from "#editor/editor-file";

const bytes = (text: string) => new TextEncoder().encode(text);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test.each([
  { name: "the same", given: "a\n", disk: "a\n", dirty: false, text: "a\n", eol: "lf", bom: false },
  {
    name: "normalised line ends",
    given: "a\nb\n",
    disk: "a\r\nb\r\n",
    dirty: false,
    text: "a\r\nb\r\n",
    eol: "crlf",
    bom: false,
  },
  {
    name: "mixed line ends",
    given: "a\nb\n",
    disk: "a\r\nb\n",
    dirty: false,
    text: "a\r\nb\n",
    eol: "crlf",
    bom: false,
  },
  { name: "without the mark", given: "a\n", disk: "\uFEFFa\n", dirty: false, text: "a\n", eol: "lf", bom: true },
  { name: "with the mark", given: "\uFEFFa\n", disk: "\uFEFFa\n", dirty: false, text: "a\n", eol: "lf", bom: true },
  { name: "both", given: "a\n", disk: "\uFEFFa\r\n", dirty: false, text: "a\r\n", eol: "crlf", bom: true },
  {
    name: "unsaved, normalised",
    given: "b\n",
    disk: "\uFEFFa\r\n",
    dirty: true,
    text: "b\r\n",
    eol: "crlf",
    bom: true,
  },
  { name: "unsaved, as it is", given: "b\r\n", disk: "a\r\n", dirty: true, text: "b\r\n", eol: "crlf", bom: false },
  {
    name: "unsaved, one line before",
    given: "b\r\nc\r\n",
    disk: "a",
    dirty: true,
    text: "b\r\nc\r\n",
    eol: "crlf",
    bom: false,
  },
  { name: "new", given: "a\n", disk: undefined, dirty: true, text: "a\n", eol: "lf", bom: false },
  {
    name: "a lone carriage return is a change",
    given: "a\n",
    disk: "a\r",
    dirty: true,
    text: "a\n",
    eol: "lf",
    bom: false,
  },
] as const)("$name: a text of an editor beside the disk", ({ given, disk, dirty, text, eol, bom }) => {
  const file = editorFile(given, disk === undefined ? undefined : bytes(disk));
  expect(file).toMatchObject({ text, eol, bom, diskSha256: disk === undefined ? "" : sha256(disk) });
  // What the server is told is what would be saved, to the byte.
  expect(file.sha256).toBe(sha256(`${bom ? "\uFEFF" : ""}${text}`));
  expect(file.sha256 !== file.diskSha256).toBe(dirty);
  // Given back as it is, it is the same file.
  expect(writtenFile(file.text, file).sha256).toBe(file.sha256);
});

test("bytes that are not text are never an editor's", () => {
  expect(editorFile("\uFFFD", new Uint8Array([0xff])).sha256).toBe(sha256("\uFFFD"));
});

test.each([
  ["keeps carriage returns", "a\nb\n", { eol: "crlf", bom: false, givesMark: false }, "a\r\nb\r\n"],
  ["keeps those that are there", "a\r\nb\n", { eol: "crlf", bom: false, givesMark: false }, "a\r\nb\n"],
  ["keeps a mark that the editor gave", "a\n", { eol: "lf", bom: true, givesMark: true }, "\uFEFFa\n"],
  ["gives no mark to an editor that hides it", "a\n", { eol: "lf", bom: true, givesMark: false }, "a\n"],
  ["is as it is for a new file", "a\n", undefined, "a\n"],
] as const)("what is written %s", (_name, content, before, wanted) => {
  expect(writtenFile(content, before).text).toBe(wanted);
});

test("only files of the workspace are an editor's, also behind links", async () => {
  await using outside = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const { root } = workspace;
  await outside.write("secret.txt", "x\n");
  await workspace.write("real/a.txt", "a\n");
  await mkdir(workspace.path("new"));
  await symlink(outside.path("secret.txt"), workspace.path("file-link"));
  await symlink(outside.root, workspace.path("directory-link"));
  await symlink(workspace.path("real"), workspace.path("inner-link"));
  await symlink(outside.path("missing"), workspace.path("dangling"));
  for (const name of ["real/a.txt", "new/b.txt", "new/c/d.txt", "inner-link/a.txt", "."]) {
    expect(await pathInWorkspace(name, root)).toBe(name === "." ? root : `${root}/${name}`);
  }
  for (const name of ["../x", "/etc/passwd", "file-link", "directory-link/secret.txt", "directory-link/new.txt"]) {
    await expect(pathInWorkspace(name, root)).rejects.toThrow("outside of the workspace");
  }
  await expect(pathInWorkspace("dangling", root)).rejects.toThrow("leads nowhere");
  await expect(pathInWorkspace(`${root}-twin/a`, root)).rejects.toThrow("outside of the workspace");
});
