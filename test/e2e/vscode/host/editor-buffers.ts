import assert from "node:assert/strict";
import { chmod, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sha256Hex } from "@gennai/protocol/digest";
import * as vscode from "vscode";
import type { FinalChange } from "../../../../packages/vscode/src/apply/final-change.ts";
import { type EditorScene, editorScene } from "./editor-scene.ts";
import { hostTest } from "./host-test.ts";

const { signal } = new AbortController();
const request = { offset: 0, limit: 0, reason: "" };

/** A scene with what tests of buffers do in it. */
async function open(files: Readonly<Record<string, string | Uint8Array>>) {
  const scene = await editorScene();
  const path = (name: string) => join(scene.root, name);
  for (const [name, content] of Object.entries(files)) await writeFile(path(name), content);
  return {
    ...scene,
    path,
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
    disk: async (name: string) => (await readFile(path(name))).toString("utf8"),
    show: async (name: string) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path(name)));
      return vscode.window.showTextDocument(document);
    },
    update: (name: string, base: string | Uint8Array, text: string): FinalChange => ({
      operation: "update",
      path: name,
      text,
      baseSha256: sha256Hex(base),
    }),
    apply: (changes: readonly FinalChange[], save: "clean" | "all" = "clean") =>
      scene.changeSets.apply(changes, { save, signal }),
  };
}

async function type(editor: vscode.TextEditor, text: string): Promise<void> {
  assert.ok(await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), text)));
}

async function undo(): Promise<void> {
  await vscode.commands.executeCommand("undo");
  await pause(500);
}

function read(scene: EditorScene, path: string) {
  return scene.editor.readFile({ ...request, path });
}

hostTest("a buffer with unsaved changes is read, with both hashes", async () => {
  await using at = await open({ "a.txt": "one\r\n" });
  await type(await at.show("a.txt"), "new ");
  const file = await read(at, "a.txt");
  assert.equal(file.content, "new one\r\n");
  assert.deepEqual([file.source, file.dirty, file.eol], ["buffer", true, "crlf"]);
  assert.equal(file.sha256, sha256Hex("new one\r\n"));
  assert.equal(file.diskSha256, sha256Hex("one\r\n"));
  assert.ok(file.version > 1);
});

hostTest("a buffer is found through a link to its file", async () => {
  await using at = await open({ "a.txt": "one\n" });
  await symlink("a.txt", at.path("link.txt"));
  await type(await at.show("link.txt"), "new ");
  assert.equal((await read(at, "a.txt")).content, "new one\n");
});

hostTest("UTF-16 and Latin-1 are read, and written back in their encodings", async () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("grün\r\n", "utf16le")]);
  await using at = await open({ "u.txt": utf16, "l.txt": Buffer.from([0xe4, 0x0a]) });
  assert.equal((await read(at, "u.txt")).content, "grün\r\n");
  await vscode.workspace.openTextDocument(vscode.Uri.file(at.path("l.txt")), { encoding: "iso88591" });
  assert.equal((await read(at, "l.txt")).encoding, "iso88591");
  assert.equal((await read(at, "l.txt")).content, "ä\n");
  await at.apply([at.update("u.txt", utf16, "rot\r\n"), at.update("l.txt", Buffer.from([0xe4, 0x0a]), "äö\n")]);
  assert.deepEqual(
    await readFile(at.path("u.txt")),
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("rot\r\n", "utf16le")]),
  );
  assert.deepEqual(await readFile(at.path("l.txt")), Buffer.from([0xe4, 0xf6, 0x0a]));
});

hostTest("one Undo takes back a set of updates, a create and a delete", async () => {
  await using at = await open({ "a.txt": "a\n", "b.txt": "b\n", "gone.txt": "gone\n" });
  await at.show("b.txt");
  await at.show("a.txt");
  await at.apply([
    at.update("a.txt", "a\n", "A\n"),
    at.update("b.txt", "b\n", "B\n"),
    { operation: "create", path: "new.txt", bytes: Buffer.from("new\n") },
    { operation: "delete", path: "gone.txt", baseSha256: sha256Hex("gone\n") },
  ]);
  assert.deepEqual([await at.disk("a.txt"), await at.disk("b.txt"), await at.disk("new.txt")], ["A\n", "B\n", "new\n"]);
  await assert.rejects(at.disk("gone.txt"));
  await at.show("a.txt");
  await undo();
  const text = async (name: string) =>
    (await vscode.workspace.openTextDocument(vscode.Uri.file(at.path(name)))).getText();
  assert.deepEqual([await text("a.txt"), await text("b.txt"), await at.disk("gone.txt")], ["a\n", "b\n", "gone\n"]);
  await assert.rejects(at.disk("new.txt"));
});

hostTest("the edit is minimal: a cursor elsewhere stays where it is", async () => {
  const before = "one\ntwo\nthree\nfour\n";
  await using at = await open({ "a.txt": before });
  const editor = await at.show("a.txt");
  editor.selection = new vscode.Selection(2, 3, 2, 3);
  await at.apply([at.update("a.txt", before, "zero\none\ntwo\nthree\n4\n")]);
  assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [3, 3]);
});

hostTest("unsaved changes that the change does not know are never overwritten", async () => {
  await using at = await open({ "a.txt": "a\n", "b.txt": "b\n" });
  const editor = await at.show("a.txt");
  await type(editor, "mine ");
  const changes = [at.update("b.txt", "b\n", "B\n"), at.update("a.txt", "a\n", "A\n")];
  await assert.rejects(at.apply(changes), { code: "unsaved_changes", message: /a\.txt has unsaved changes/ });
  assert.equal(editor.document.getText(), "mine a\n");
  assert.deepEqual([await at.disk("a.txt"), await at.disk("b.txt")], ["a\n", "b\n"]);
});

hostTest("a change on top of unsaved changes goes into the buffer, and its user saves it", async () => {
  await using at = await open({ "a.txt": "a\n" });
  const editor = await at.show("a.txt");
  await type(editor, "mine ");
  const [file] = await at.apply([at.update("a.txt", "mine a\n", "mine A\n")]);
  assert.equal(editor.document.getText(), "mine A\n");
  assert.equal(editor.document.isDirty, true);
  assert.equal(await at.disk("a.txt"), "a\n");
  assert.equal(file?.afterSha256, sha256Hex("mine A\n"));
  await undo();
  assert.equal(editor.document.getText(), "mine a\n");
});

hostTest("a read-only file is refused, and all the rest of the set", async () => {
  await using at = await open({ "a.txt": "a\n", "b.txt": "b\n" });
  await chmod(at.path("a.txt"), 0o444);
  const changes = [at.update("b.txt", "b\n", "B\n"), at.update("a.txt", "a\n", "A\n")];
  await assert.rejects(at.apply(changes), { code: "read_only", message: /a\.txt is read-only/ });
  assert.equal(await at.disk("b.txt"), "b\n");
});

hostTest("a file that changed on disk behind its open document is stale", async () => {
  await using at = await open({ "a.txt": "a\n" });
  await at.show("a.txt");
  await writeFile(at.path("a.txt"), "theirs\n");
  await assert.rejects(at.apply([at.update("a.txt", "a\n", "A\n")]), { code: "stale_file" });
  assert.equal(await at.disk("a.txt"), "theirs\n");
});

hostTest("diagnostics and files are listed", async () => {
  await using at = await open({ "a.json": "{ oops\n", "b.txt": "b\n" });
  await at.show("a.json");
  const diagnostics = vscode.languages.createDiagnosticCollection("test");
  const range = new vscode.Range(0, 2, 0, 6);
  diagnostics.set(vscode.Uri.file(at.path("a.json")), [
    new vscode.Diagnostic(range, "no", vscode.DiagnosticSeverity.Error),
  ]);
  const found = await at.editor.listDiagnostics({ paths: ["a.json"] });
  assert.ok(
    found.some((one) => one.message === "no" && one.line === 1 && one.column === 3 && one.severity === "error"),
  );
  assert.deepEqual(await at.editor.listDiagnostics({ paths: ["b.txt"] }), []);
  diagnostics.dispose();
});

hostTest("symbols are found by the editor's language features, in the workspace only", async () => {
  await using at = await open({ "a.odd": "one\ntwo\n", "b.txt": "" });
  const line = (number: number) => new vscode.Range(number, 0, number, 3);
  const kind = vscode.SymbolKind.Function;
  const symbols = vscode.Disposable.from(
    vscode.languages.registerDocumentSymbolProvider(
      { pattern: "**/*.odd" },
      {
        provideDocumentSymbols: () => {
          const outer = new vscode.DocumentSymbol("Outer", "", vscode.SymbolKind.Class, line(0), line(0));
          outer.children.push(new vscode.DocumentSymbol("inner", "", kind, line(1), line(1)));
          return [outer];
        },
      },
    ),
    vscode.languages.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: () => [
        new vscode.SymbolInformation(
          "inner",
          kind,
          "Outer",
          new vscode.Location(vscode.Uri.file(at.path("a.odd")), line(1)),
        ),
        new vscode.SymbolInformation(
          "other",
          kind,
          "",
          new vscode.Location(vscode.Uri.file("/elsewhere/x.odd"), line(0)),
        ),
      ],
    }),
  );
  const inner = { name: "inner", kind: "function", path: "a.odd", line: 2, container: "Outer" };
  assert.deepEqual(await at.editor.findSymbols({ query: "inn", path: "a.odd" }, { signal }), {
    symbols: [inner],
    truncated: false,
  });
  const everywhere = await at.editor.findSymbols({ query: "in", path: "" }, { signal });
  assert.deepEqual(
    everywhere.symbols.filter(({ name }) => name === "inner" || name === "other"),
    [inner],
  );
  await assert.rejects(at.editor.findSymbols({ query: "", path: "../x" }, { signal }));
  symbols.dispose();
});

hostTest("without a language model the editor says so", async () => {
  await using at = await open({});
  const asked = JSON.stringify({ system: "s", messages: [{ role: "user", text: "hi" }], tools: [] });
  await assert.rejects(at.editor.callModel({ requestJson: asked }, { signal }), { code: "no_model" });
});
