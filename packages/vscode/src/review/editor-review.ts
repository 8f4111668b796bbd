import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { otherHalf } from "@gennai/protocol/whole-moves";
import * as vscode from "vscode";
import type { ContentDocuments, DocumentSubject } from "../documents/content-documents.ts";
import { proposalText, proposalTitle, unseenTitle } from "../documents/proposal-diff.ts";
import { nameOfUri } from "../editor/workspace-uri.ts";
import type { WorkspaceSession } from "../session/workspace-session.ts";
import { type DocumentHunks, documentHunks, hasAnyHunk } from "./editor-hunks.ts";
import { HunkEditFiles } from "./hunk-edit-files.ts";
import { type HunkSubject, hunkLenses } from "./hunk-words.ts";
import { ProposalTexts } from "./proposal-texts.ts";
import type { HunkMark, ShownHunk } from "./shown-hunk.ts";
import type { UnseenChanges } from "./unseen-changes.ts";
import type { WindowReviews } from "./window-reviews.ts";

export interface EditorReviewOptions {
  /** The session's folder, absolute. */
  readonly root: string;
  readonly sessions: () => WorkspaceSession;
  readonly documents: ContentDocuments;
  readonly reviews: WindowReviews;
  readonly unseen: UnseenChanges;
}

/** Milliseconds: changes within this time are drawn once. */
const gather = 60;

/** Shows in the editors of this window what waits for review: lines, and actions above them. */
export class EditorReview implements vscode.Disposable {
  readonly edits = new HunkEditFiles();
  readonly #options: EditorReviewOptions;
  readonly #painter = new HunkPainter();
  readonly #place = vscode.window.createStatusBarItem("gennai.changes", vscode.StatusBarAlignment.Left, 48);
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly texts: ProposalTexts;
  readonly #listeners: readonly vscode.Disposable[];
  /** The hunks of a document, valid for one version of its text and the present state of the reviews. */
  #found = new WeakMap<vscode.TextDocument, { readonly version: number; readonly hunks: DocumentHunks | undefined }>();
  #painted = new WeakSet<vscode.TextEditor>();
  #proposals: ReadonlyMap<string, Proposal> = new Map();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: EditorReviewOptions) {
    this.#options = options;
    this.texts = new ProposalTexts(
      async (change) => {
        const { session } = options.sessions();
        if (session === undefined) throw new Error("There is no session.");
        return proposalText(change, session);
      },
      () => this.refresh(),
    );
    const selector = [{ scheme: "file" }, { scheme: "gennai-content" }, { scheme: "vscode-vfs" }];
    this.#listeners = [
      vscode.window.onDidChangeVisibleTextEditors(() => this.#soon()),
      vscode.window.onDidChangeActiveTextEditor(() => this.#soon()),
      vscode.window.onDidChangeTextEditorSelection(() => this.#soon()),
      vscode.window.tabGroups.onDidChangeTabs(() => this.#soon()),
      vscode.workspace.onDidSaveTextDocument(() => this.#soon()),
      vscode.workspace.onDidChangeTextDocument(({ contentChanges }) => {
        if (contentChanges.length > 0) this.#soon();
      }),
      vscode.languages.registerCodeLensProvider(selector, {
        onDidChangeCodeLenses: this.#lensesChanged.event,
        provideCodeLenses: (document) => this.#lenses(document),
      }),
    ];
    this.#place.name = "Gennai Changes";
    this.#place.command = "gennai.nextHunk";
    void options.unseen.load();
  }

  /** Shows these proposals, which wait for review. */
  showProposals(proposals: ReadonlyMap<string, Proposal>): void {
    if (proposals === this.#proposals) return;
    this.#proposals = proposals;
    this.refresh();
  }

  /** A decision was made, or a change was written or seen. */
  refresh(): void {
    this.#found = new WeakMap();
    this.#lensesChanged.fire();
    this.#soon();
  }

  /** Proposals that wait for review, newest last. */
  get proposals(): ReadonlyMap<string, Proposal> {
    return this.#proposals;
  }

  hunksOf(document: vscode.TextDocument): DocumentHunks | undefined {
    const known = this.#found.get(document);
    if (known?.version === document.version) return known.hunks;
    const subject = this.#subjectOf(document.uri);
    const hunks = subject && documentHunks(this.#sources, subject, document.getText());
    this.#found.set(document, { version: document.version, hunks });
    return hunks;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener.dispose();
    this.#painter.dispose();
    this.#place.dispose();
    this.#lensesChanged.dispose();
    this.edits.dispose();
    this.#options.unseen[Symbol.dispose]();
  }

  get #sources() {
    const { reviews, unseen } = this.#options;
    return {
      proposals: () => this.proposals,
      reviewOf: reviews.of.bind(reviews),
      textOf: this.texts.of.bind(this.texts),
      unseenOf: unseen.of.bind(unseen),
    };
  }

  #subjectOf(uri: vscode.Uri): DocumentSubject | undefined {
    const subject = this.#options.documents.subjectOf(uri);
    if (subject !== undefined) return subject;
    const path = nameOfUri(this.#options.root, uri);
    return path === undefined ? undefined : { type: "file", path };
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#show();
    }, gather);
  }

  #show(): void {
    const inTabs = documentsInTabs();
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      // A diff editor already colours the changes.
      const found = inTabs.has(document.uri.toString()) ? this.hunksOf(document) : undefined;
      if (found?.origin === "written" && found.hunks.length === 0 && !document.isDirty) {
        void this.#options.unseen.recheck(found.path);
      }
      if (found === undefined && !this.#painted.has(editor)) continue;
      this.#painter.paint(editor, found?.hunks ?? []);
      this.#painted.add(editor);
    }
    const active = vscode.window.activeTextEditor;
    const hunks = (active && this.hunksOf(active.document)?.hunks) ?? [];
    void vscode.commands.executeCommand("setContext", "gennai.hunksHere", hunks.length > 0);
    void vscode.commands.executeCommand("setContext", "gennai.hunksOpen", this.#hasAny());
    void vscode.commands.executeCommand("setContext", "gennai.allShown", showsAll());
    this.#showPlace(hunks, active?.selection.active.line ?? 0);
  }

  /** Where the cursor is among the changes of the file, and how many are decided. */
  #showPlace(hunks: readonly ShownHunk[], line: number): void {
    if (hunks.length === 0) return this.#place.hide();
    const at = hunks.findLastIndex((hunk) => hunk.line <= line);
    const open = hunks.filter(({ state }) => state === "open").length;
    this.#place.text = `$(diff) ${at === -1 ? "" : `${at + 1} of `}${plural(hunks.length, "change")}`;
    this.#place.tooltip = `${open} of them open. Go to the next one (Alt+F5)`;
    this.#place.show();
  }

  #hasAny(): boolean {
    const { root, unseen } = this.#options;
    const open = new Map(vscode.workspace.textDocuments.map((document) => [nameOfUri(root, document.uri), document]));
    return hasAnyHunk(this.proposals.values(), unseen.files, (path) => {
      const document = open.get(path);
      return document && (this.hunksOf(document)?.hunks.length ?? 0);
    });
  }

  #lenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const found = this.hunksOf(document);
    if (found === undefined) return [];
    const of = found.hunks.length;
    const about = subjectOf(found);
    return found.hunks.flatMap((hunk, index) => {
      const line = Math.min(hunk.line, document.lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      return hunkLenses(hunk, about, { index, of }).map(
        ({ title, command }) =>
          new vscode.CodeLens(range, {
            title,
            command: `gennai.${command}`,
            arguments: [document.uri.toString(), hunk.id],
          }),
      );
    });
  }
}

function subjectOf({ origin, proposed, written }: DocumentHunks): HunkSubject {
  if (proposed === undefined)
    return { origin, operation: written?.agent === undefined ? "delete" : "update", movedFrom: written?.movedFrom };
  const { proposal, change } = proposed;
  // What stands in the file at the old path of a rename.
  const { operation, movedFrom } =
    change.operation === "delete" ? (otherHalf(change, proposal.changes) ?? change) : change;
  return { origin, operation, movedFrom };
}

/** True if the active editor is one of our diffs of all files, after whose title VS Code says how many. */
export function showsAll(): boolean {
  const { label = "", input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
  const isOurs = [proposalTitle, unseenTitle].some((title) => label.startsWith(`${title} (`));
  return isOurs && !(input instanceof vscode.TabInputText);
}

/** Documents that visible tabs show alone, not as a side of a diff. */
function documentsInTabs(): ReadonlySet<string> {
  const inputs = vscode.window.tabGroups.all.map(({ activeTab }) => activeTab?.input);
  return new Set(inputs.flatMap((input) => (input instanceof vscode.TabInputText ? [input.uri.toString()] : [])));
}

type MarkKind = HunkMark["kind"];

/** Most lines of a diff that a hover shows. */
const hoverLines = 60;

/** Draws hunks into editors, in the colours of the theme's diff editor. */
class HunkPainter implements vscode.Disposable {
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
