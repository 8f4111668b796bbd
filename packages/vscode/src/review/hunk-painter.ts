import * as vscode from "vscode";
import { ghostsOf } from "./hunk-ghosts.ts";
import type { HunkOrigin } from "./hunk-words.ts";
import type { HunkMark, ShownHunk } from "./shown-hunk.ts";

type MarkKind = HunkMark["kind"];

/** Most lines of a diff that a hover shows. */
const hoverLines = 60;

/** Draws hunks into editors, in the colours of the theme's diff editor. */
export class HunkPainter implements vscode.Disposable {
  readonly #lines: Readonly<Record<MarkKind, vscode.TextEditorDecorationType>> = {
    removed: lineType(undefined, "editorGutter.deletedBackground", "deletedForeground"),
    added: lineType("diffEditor.insertedLineBackground", "editorGutter.addedBackground", "addedForeground"),
    changed: lineType("diffEditor.insertedLineBackground", "editorGutter.modifiedBackground", "modifiedForeground"),
    place: vscode.window.createTextEditorDecorationType({
      overviewRulerColor: new vscode.ThemeColor("editorGutter.modifiedBackground"),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  };
  /** Only behind the line's own text, because the ghost text after it has its own background. */
  readonly #removedText = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("diffEditor.removedTextBackground"),
  });
  readonly #ghosts = {
    added: ghostType("diffEditor.insertedTextBackground"),
    removed: ghostType("diffEditor.removedTextBackground"),
  };

  paint(editor: vscode.TextEditor, hunks: readonly ShownHunk[], origin: HunkOrigin): void {
    const marks: Record<MarkKind, vscode.DecorationOptions[]> = { removed: [], added: [], changed: [], place: [] };
    const ghosts: Record<"added" | "removed", vscode.DecorationOptions[]> = { added: [], removed: [] };
    const removed: vscode.Range[] = [];
    const { lineCount } = editor.document;
    for (const hunk of hunks) {
      if (hunk.state === "undo") continue;
      const hoverMessage = hoverOf(hunk);
      for (const mark of hunk.marks) {
        const { start, end } = mark.span;
        const last = Math.max(start, end - 1);
        marks[mark.kind].push({ range: new vscode.Range(start, 0, last, 0), hoverMessage });
        for (let line = start; mark.kind === "removed" && line < Math.min(end, lineCount); line++) {
          removed.push(editor.document.lineAt(line).range);
        }
        for (const { line, text, kind } of ghostsOf(mark, origin === "proposed", lineCount)) {
          ghosts[kind].push({
            range: editor.document.lineAt(Math.min(line, lineCount - 1)).range,
            hoverMessage,
            renderOptions: { after: { contentText: text } },
          });
        }
      }
    }
    for (const kind of ["removed", "added", "changed", "place"] as const) {
      editor.setDecorations(this.#lines[kind], marks[kind]);
    }
    editor.setDecorations(this.#removedText, removed);
    for (const kind of ["added", "removed"] as const) editor.setDecorations(this.#ghosts[kind], ghosts[kind]);
  }

  dispose(): void {
    const types = [...Object.values(this.#lines), ...Object.values(this.#ghosts), this.#removedText];
    for (const type of types) type.dispose();
  }
}

function lineType(background: string | undefined, bar: string, ruler: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    ...(background === undefined ? {} : { backgroundColor: new vscode.ThemeColor(background) }),
    // High contrast themes have no backgrounds, so every theme gets the bar.
    borderColor: new vscode.ThemeColor(bar),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    // On the ruler, the colours of the diff editor would come out black.
    overviewRulerColor: new vscode.ThemeColor(`editorOverviewRuler.${ruler}`),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
}

function ghostType(background: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: {
      margin: "0 0 0 2em",
      color: new vscode.ThemeColor("editor.foreground"),
      backgroundColor: new vscode.ThemeColor(background),
    },
  });
}

function hoverOf({ diff }: ShownHunk): vscode.MarkdownString {
  const shown = diff.slice(0, hoverLines);
  const rest = diff.length - shown.length;
  const text = rest === 0 ? shown : [...shown, `… ${rest} more lines`];
  return new vscode.MarkdownString().appendCodeblock(text.join("\n"), "diff");
}
