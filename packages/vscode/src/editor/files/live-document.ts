import * as vscode from "vscode";
import type { EditorDocument } from "./editor-files.ts";

/** A document of the editor, always in its present state. */
export class LiveDocument implements EditorDocument {
  readonly #document: vscode.TextDocument;

  constructor(document: vscode.TextDocument) {
    this.#document = document;
  }

  get text(): string {
    return this.#document.getText();
  }

  get version(): number {
    return this.#document.version;
  }

  get isDirty(): boolean {
    return this.#document.isDirty;
  }

  get encoding(): string {
    return this.#document.encoding;
  }

  get eol(): "lf" | "crlf" {
    return this.#document.eol === vscode.EndOfLine.CRLF ? "crlf" : "lf";
  }

  async save(): Promise<boolean> {
    return this.#document.save();
  }
}
