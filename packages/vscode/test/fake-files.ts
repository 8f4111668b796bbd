import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EditorError } from "../src/editor/editor-error.ts";
import type { EditorDocument, EditorFiles, FileEdit, TextReplacement } from "../src/editor/files/editor-files.ts";
import { byteOrderMark, lineEndsOf, withLineEnds, withoutByteOrderMark } from "../src/editor/files/text-shape.ts";

type Failure = (absolute: string) => boolean | undefined | void;

/** Documents in memory over a real disk, behaving as VS Code's: one kind of line end, a mark in the name of the encoding. */
export class FakeFiles implements EditorFiles {
  readonly documents = new Map<string, FakeDocument>();
  /** Paths of edits, in order. */
  readonly edited: string[] = [];
  /** Called before each; true makes it fail. */
  failEdit: Failure = () => undefined;
  failSave: Failure = () => undefined;
  readonly readOnly = new Set<string>();

  openDocument(absolute: string): FakeDocument | undefined {
    return this.documents.get(absolute);
  }

  async loadDocument(absolute: string): Promise<FakeDocument> {
    const open = this.documents.get(absolute);
    if (open !== undefined) return open;
    const bytes = await readFile(absolute);
    const document = new FakeDocument(this, absolute, bytes);
    this.documents.set(absolute, document);
    return document;
  }

  async readDisk(absolute: string): Promise<Uint8Array | undefined> {
    const found = await stat(absolute).catch(() => undefined);
    if (found?.isDirectory() === true) throw new EditorError("not_a_file", `${absolute} is not a file.`, "");
    return found === undefined ? undefined : readFile(absolute);
  }

  async isWritable(absolute: string): Promise<boolean> {
    return !this.readOnly.has(absolute);
  }

  async encode(text: string, encoding: string): Promise<Uint8Array> {
    if (encoding === "latin1") return Buffer.from(text, "latin1");
    return Buffer.from(encoding === "utf8bom" ? byteOrderMark + text : text);
  }

  async decode(bytes: Uint8Array, encoding: string): Promise<string> {
    return withoutByteOrderMark(Buffer.from(bytes).toString(encoding === "latin1" ? "latin1" : "utf8"));
  }

  async applyEdits(edits: readonly FileEdit[]): Promise<boolean> {
    for (const edit of edits) {
      if (this.failEdit(edit.absolute) === true) return false;
      this.edited.push(edit.absolute);
      if (edit.type === "create") await this.writeDisk(edit.absolute, edit.bytes);
      else if (edit.type === "delete") await rm(edit.absolute);
      else
        this.documents
          .get(edit.absolute)
          ?.edit(withEdits(this.documents.get(edit.absolute)?.text ?? "", edit.edits), edit.eol);
    }
    return true;
  }

  async writeDisk(absolute: string, bytes: Uint8Array): Promise<void> {
    await mkdir(dirname(absolute), { recursive: true });
    await writeFile(absolute, bytes);
  }

  async deleteFromDisk(absolute: string): Promise<void> {
    await rm(absolute, { force: true });
  }
}

export class FakeDocument implements EditorDocument {
  readonly #files: FakeFiles;
  readonly #absolute: string;
  encoding: string;
  text: string;
  eol: "lf" | "crlf";
  version = 1;
  isDirty = false;

  constructor(files: FakeFiles, absolute: string, bytes: Uint8Array, encoding?: string) {
    this.#files = files;
    this.#absolute = absolute;
    const text = Buffer.from(bytes).toString(encoding === "latin1" ? "latin1" : "utf8");
    this.encoding = encoding ?? (text.startsWith(byteOrderMark) ? "utf8bom" : "utf8");
    const crlf = text.split("\r\n").length - 1;
    this.eol = lineEndsOf(text) !== "lf" && crlf * 2 > text.split("\n").length - 1 ? "crlf" : "lf";
    this.text = withLineEnds(withoutByteOrderMark(text), this.eol);
  }

  edit(text: string, eol: "lf" | "crlf" | undefined): void {
    this.eol = eol ?? this.eol;
    this.text = withLineEnds(text, this.eol);
    this.version++;
    this.isDirty = true;
  }

  async save(): Promise<boolean> {
    if (this.#files.failSave(this.#absolute) === true) return false;
    await writeFile(this.#absolute, await this.#files.encode(this.text, this.encoding));
    this.isDirty = false;
    return true;
  }
}

/** Applies the result of `minimalEdits`. */
export function withEdits(text: string, edits: readonly TextReplacement[]): string {
  let result = "";
  let at = 0;
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}
