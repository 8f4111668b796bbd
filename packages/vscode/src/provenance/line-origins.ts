import { runOfLine } from "@gennai/client/origin-words";
import { traceLines } from "@gennai/client/trace-lines";
import type { LineTrace, TracedRun } from "@gennai/protocol/model/governance/line-trace";
import * as vscode from "vscode";
import { nameOfUri } from "../editor/workspace-uri.ts";
import type { ServerConnection } from "../server/server-connection.ts";
import { originMarkdown } from "./origin-hover.ts";
import { originNotes } from "./origin-notes.ts";
import { OriginPainter } from "./origin-painter.ts";
import { TextTraces } from "./text-traces.ts";

export interface LineOriginsOptions {
  /** The session's folder, absolute. */
  readonly root: string;
  /** The connected server, and a session of the folder; undefined: nobody is asked, and no server is started for this. */
  readonly source: () =>
    | { readonly governance: ServerConnection["governance"]; readonly sessionId: string }
    | undefined;
  readonly settings: () => { readonly lineOrigins: boolean; readonly lineOriginsHover: boolean };
  readonly onProblem: (what: string, error: unknown) => void;
}

/** A line of a document, and what is known of its origin. */
export interface LineOriginFound {
  readonly path: string;
  readonly trace: LineTrace;
  readonly run: TracedRun;
}

/** Milliseconds: changes within this time cause one request. */
const gather = 400;
const timeoutMs = 30_000;

/** Shows who wrote each line in the editors of this window, saved or not: after the lines, and in a hover. */
export class LineOrigins implements vscode.Disposable {
  readonly #options: LineOriginsOptions;
  readonly #painter = new OriginPainter();
  readonly #painted = new WeakSet<vscode.TextEditor>();
  readonly #listeners: readonly vscode.Disposable[];
  readonly #traces: TextTraces<vscode.TextDocument>;
  readonly #over = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LineOriginsOptions) {
    this.#options = options;
    this.#traces = new TextTraces(async (text) => {
      const source = options.source();
      if (source === undefined) return undefined;
      const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(timeoutMs)]);
      return traceLines(source.governance, { sessionId: source.sessionId, ...text }, { signal });
    });
    const selector = [{ scheme: "file" }, { scheme: "vscode-vfs" }, { scheme: "untitled" }];
    this.#listeners = [
      vscode.languages.registerHoverProvider(selector, {
        provideHover: (document, position) => this.#hover(document, position),
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument(({ contentChanges }) => {
        if (contentChanges.length > 0) this.refresh();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("gennai.provenance")) this.refresh();
      }),
    ];
    this.refresh();
  }

  /** The ledger may have new records. */
  recorded(): void {
    this.#traces.forget();
    this.refresh();
  }

  /** Draws again after a pause. */
  refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#show(), gather);
  }

  /** Rejects with `ConnectError`. undefined: no file of the workspace, too long, or nobody can be asked. */
  async of(document: vscode.TextDocument, line: number): Promise<LineOriginFound | undefined> {
    const path = nameOfUri(this.#options.root, document.uri);
    if (path === undefined) return undefined;
    const trace = await this.#traces.of({ of: document, version: document.version, path, text: document.getText() });
    const run = trace && runOfLine(trace.runs, line + 1);
    return trace === undefined || run === undefined ? undefined : { path, trace, run };
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#over.abort();
    for (const listener of this.#listeners) listener.dispose();
    this.#painter.dispose();
  }

  async #hover(document: vscode.TextDocument, { line }: vscode.Position): Promise<vscode.Hover | undefined> {
    const { lineOrigins, lineOriginsHover } = this.#options.settings();
    if (!(lineOrigins || lineOriginsHover)) return undefined;
    const found = await this.of(document, line).catch((error: unknown) => {
      this.#options.onProblem("It is not known who wrote the line.", error);
      return undefined;
    });
    if (found === undefined) return undefined;
    const { trace, run } = found;
    // A file without recorded lines gets no hover, unless the user wants to see every line's origin.
    if (!lineOrigins && trace.runs.every(({ origin }) => origin.type === "unknown")) return undefined;
    const text = new vscode.MarkdownString(
      originMarkdown(run.origin, trace.trust, { uri: document.uri.toString(), line }),
    );
    text.isTrusted = { enabledCommands: ["gennai.showOrigin"] };
    return new vscode.Hover(text, document.lineAt(line).range);
  }

  async #show(): Promise<void> {
    for (const editor of vscode.window.visibleTextEditors) {
      if (!this.#options.settings().lineOrigins) {
        if (this.#painted.delete(editor)) this.#painter.clear(editor);
        continue;
      }
      const { document } = editor;
      const { version } = document;
      const found = await this.of(document, 0).catch((error: unknown) => {
        this.#options.onProblem(`It is not known who wrote ${document.uri.path}.`, error);
        return undefined;
      });
      // The text has changed meanwhile: the next request is about the new one.
      if (this.#over.signal.aborted || document.version !== version) continue;
      if (found === undefined && !this.#painted.has(editor)) continue;
      this.#painter.paint(editor, found === undefined ? [] : originNotes(found.trace, document.lineCount));
      this.#painted.add(editor);
    }
  }
}
