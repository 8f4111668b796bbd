import * as vscode from "vscode";
import type { HunkMark, ShownHunk } from "./shown-hunk.ts";

type MarkKind = HunkMark["kind"];

/** Most lines of a diff that a hover shows. */
const hoverLines = 60;

/** Draws hunks into editors, in the colours of the theme's diff editor. */
export class HunkPainter implements vscode.Disposable {
  readonly #lines: Readonly<Record<MarkKind, vscode.TextEditorDecorationType>> = {
    removed: lineType("diffEditor.removedLineBackground", "editorGutter.deletedBackground", "deletedForeground"),
    added: lineType("diffEditor.insertedLineBackground", "editorGutter.addedBackground", "addedForeground"),
    changed: lineType("diffEditor.insertedLineBackground", "editorGutter.modifiedBackground", "modifiedForeground"),
    place: vscode.window.createTextEditorDecorationType({
      overviewRulerColor: new vscode.ThemeColor("editorGutter.modifiedBackground"),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  };

  /** Only lines of the document: all others are in the diff editor, where they are lines. */
  paint(editor: vscode.TextEditor, hunks: readonly ShownHunk[]): void {
    const marks: Record<MarkKind, vscode.DecorationOptions[]> = { removed: [], added: [], changed: [], place: [] };
    for (const hunk of hunks) {
      if (hunk.state === "undo") continue;
      const hoverMessage = hoverOf(hunk);
      for (const mark of hunk.marks) {
        const { start, end } = mark.span;
        const last = Math.max(start, end - 1);
        marks[mark.kind].push({ range: new vscode.Range(start, 0, last, 0), hoverMessage });
      }
    }
    for (const kind of ["removed", "added", "changed", "place"] as const) {
      editor.setDecorations(this.#lines[kind], marks[kind]);
    }
  }

  dispose(): void {
    for (const type of Object.values(this.#lines)) type.dispose();
  }
}

function lineType(background: string, bar: string, ruler: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(background),
    // High contrast themes have no backgrounds, so every theme gets the bar.
    borderColor: new vscode.ThemeColor(bar),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    // On the ruler, the colours of the diff editor would come out black.
    overviewRulerColor: new vscode.ThemeColor(`editorOverviewRuler.${ruler}`),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
}

function hoverOf({ diff }: ShownHunk): vscode.MarkdownString {
  const shown = diff.slice(0, hoverLines);
  const rest = diff.length - shown.length;
  const text = rest === 0 ? shown : [...shown, `… ${rest} more lines`];
  return new vscode.MarkdownString().appendCodeblock(text.join("\n"), "diff");
}
