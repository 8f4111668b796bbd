import { runOfLine } from "@gennai/client/origin-words";
import { traceLines } from "@gennai/client/trace-lines";
import type { LineTrace, TracedRun } from "@gennai/protocol/model/governance/line-trace";
import * as vscode from "vscode";
import { nameOfUri } from "../editor/workspace-uri.ts";
import type { ServerConnection } from "../server/server-connection.ts";
import { originMarkdown } from "./origin-hover.ts";
import { type OriginNote, originNotes } from "./origin-notes.ts";
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

type Bar = NonNullable<OriginNote["bar"]>;

/** Colours of the theme that are meant for charts. */
const colours: Readonly<Record<Bar, string>> = {
  0: "charts.blue",
  1: "charts.purple",
  2: "charts.green",
  3: "charts.orange",
  failed: "charts.red",
  unsure: "charts.yellow",
  untrusted: "charts.red",
};

/** Draws who wrote which lines: a bar before them, and text after the first line. */
class OriginPainter implements vscode.Disposable {
  /** Decorations by the name of the bar in a note. */
  readonly #bars = new Map(Object.entries(colours).map(([bar, colour]) => [bar, barType(colour)] as const));
  readonly #words = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { margin: "0 0 0 3em", color: new vscode.ThemeColor("editorCodeLens.foreground") },
  });

  paint(editor: vscode.TextEditor, notes: readonly OriginNote[]): void {
    const { document } = editor;
    const ranges = new Map<string, vscode.Range[]>([...this.#bars.keys()].map((bar) => [bar, []]));
    const words: vscode.DecorationOptions[] = [];
    for (const { first, last, bar, text } of notes) {
      if (bar === undefined || last >= document.lineCount) continue;
      ranges.get(String(bar))?.push(new vscode.Range(first, 0, last, 0));
      words.push({ range: document.lineAt(first).range, renderOptions: { after: { contentText: text } } });
    }
    for (const [bar, type] of this.#bars) editor.setDecorations(type, ranges.get(bar) ?? []);
    editor.setDecorations(this.#words, words);
  }

  clear(editor: vscode.TextEditor): void {
    this.paint(editor, []);
  }

  dispose(): void {
    for (const type of [...this.#bars.values(), this.#words]) type.dispose();
  }
}

function barType(colour: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderColor: new vscode.ThemeColor(colour),
    borderStyle: "solid",
    borderWidth: "0 0 0 2px",
    overviewRulerColor: new vscode.ThemeColor(colour),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
  });
}
