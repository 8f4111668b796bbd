import * as vscode from "vscode";
import type { OriginNote } from "./origin-notes.ts";

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
export class OriginPainter implements vscode.Disposable {
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
