import { sha256Hex } from "@gennai/protocol/digest";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { EditorError, reasonOf } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { bufferState, maxFileBytes } from "../editor/files/file-state.ts";
import { lineEndsOf } from "../editor/files/text-shape.ts";
import type { FinalChange } from "./final-change.ts";
import { type Overlap, OverlapError } from "./overlap.ts";
import { type PlannedChange, type PlannedUpdate, planChange, stale, textEdit } from "./plan-change.ts";
import { saveDocument } from "./save-document.ts";

export interface ApplyOptions {
  /** `clean`: a document with unsaved changes stays unsaved, and its user saves it. `all`: the user accepted the whole text. */
  readonly save: "clean" | "all";
  readonly signal: AbortSignal;
}

/**
 * Applies changes as one step of the editor's Undo, all or nothing. Every file is checked first; if something fails later, what was done is
 * taken back. Throws `EditorError`: `not_restored`, with file names, if taking back failed too; for every other code nothing was
 * applied.
 */
export async function applyChangeSet(
  files: EditorFiles,
  workspace: string,
  changes: readonly FinalChange[],
  options: ApplyOptions,
): Promise<readonly AppliedFile[]> {
  const planned = await planAll(files, workspace, changes);
  options.signal.throwIfAborted();
  await checkAgain(files, planned);
  let failure: unknown;
  try {
    const edits = planned
      .map(({ edit }) => edit)
      .filter((edit) => edit.type !== "text" || edit.edits.length > 0 || edit.eol !== undefined);
    if (edits.length > 0 && !(await files.applyEdits(edits, "Gennai"))) {
      throw new EditorError(
        "not_applied",
        "The editor refused the edit.",
        "A file may have changed meanwhile: try again.",
      );
    }
    const applied: AppliedFile[] = [];
    for (const change of planned) applied.push(await settle(files, change, options.save));
    return applied;
  } catch (error) {
    failure = error;
  }
  const lost = await restore(files, planned);
  if (lost.length === 0) {
    const code = failure instanceof EditorError ? failure.code : "not_applied";
    throw new EditorError(code, `Nothing was applied: ${reasonOf(failure)}`, "", { cause: failure });
  }
  throw new EditorError(
    "not_restored",
    `The changes failed (${reasonOf(failure)}) and could not be undone in ${lost.join(", ")}.`,
    "Look at these files, and use Undo or your version control.",
    { cause: failure },
  );
}

/**
 * The files of which these changes and their user changed the same lines; nothing is done. Throws `EditorError` for all files that
 * something else prevents.
 */
export async function overlapsOf(
  files: EditorFiles,
  workspace: string,
  changes: readonly FinalChange[],
): Promise<readonly Overlap[]> {
  const { problems } = await plansOf(files, workspace, changes);
  const overlaps = problems.flatMap((problem) => (problem instanceof OverlapError ? [problem.overlap] : []));
  refuse(problems.filter((problem) => !(problem instanceof OverlapError)));
  return overlaps;
}

/** Plans every change, and throws for all files that prevent it, not only the first. */
async function planAll(
  files: EditorFiles,
  workspace: string,
  changes: readonly FinalChange[],
): Promise<readonly PlannedChange[]> {
  const { planned, problems } = await plansOf(files, workspace, changes);
  refuse(problems);
  return planned;
}

function refuse(problems: readonly EditorError[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  throw new EditorError(first.code, problems.map(({ message }) => message).join("\n"), "");
}

async function plansOf(files: EditorFiles, workspace: string, changes: readonly FinalChange[]) {
  const planned: PlannedChange[] = [];
  const problems: EditorError[] = [];
  const seen = new Set<string>();
  for (const change of changes) {
    try {
      const plan = await planChange(files, workspace, change);
      const key = plan.path.absolute.normalize("NFC").toLowerCase();
      if (seen.has(key)) {
        throw new EditorError(
          "duplicate_change",
          `${change.path} is twice in one change set.`,
          "Send one change per file.",
        );
      }
      seen.add(key);
      planned.push(plan);
    } catch (error) {
      problems.push(
        error instanceof EditorError
          ? error
          : new EditorError("not_applied", `${change.path}: ${reasonOf(error)}.`, "", { cause: error }),
      );
    }
  }
  return { planned, problems };
}

/** The last check before the edit: planning took time, and people type. */
async function checkAgain(files: EditorFiles, planned: readonly PlannedChange[]): Promise<void> {
  for (const change of planned) {
    const bytes = await files.readDisk(change.path.absolute, { maxBytes: maxFileBytes });
    const before = change.operation === "create" ? undefined : change.before;
    const same =
      bytes === undefined || before === undefined ? bytes === before : sha256Hex(bytes) === sha256Hex(before);
    if (!same) throw stale(change.path);
  }
  // Last and without an await, so that nothing can happen between this and the edit.
  for (const change of planned) {
    if (change.operation === "update" && !isUntouched(change)) throw stale(change.path);
    if (change.operation === "delete" && files.openDocument(change.path.absolute)?.isDirty === true)
      throw stale(change.path);
  }
}

function isUntouched({ document, version, beforeText }: PlannedUpdate): boolean {
  return document.version === version && document.text === beforeText;
}

/** Checks that an edit had the wanted effect, and saves it. */
async function settle(files: EditorFiles, change: PlannedChange, save: ApplyOptions["save"]): Promise<AppliedFile> {
  const { operation, path } = change;
  if (operation === "update") return settleUpdate(files, change, save);
  const bytes = await files.readDisk(path.absolute, { maxBytes: maxFileBytes });
  const afterSha256 = bytes === undefined ? undefined : sha256Hex(bytes);
  const wanted = operation === "create" ? sha256Hex(change.bytes) : undefined;
  if (afterSha256 !== wanted) throw differs(path.name);
  const beforeSha256 = operation === "create" ? undefined : change.beforeSha256;
  return { path: path.name, operation, beforeSha256, afterSha256 };
}

async function settleUpdate(
  files: EditorFiles,
  change: PlannedUpdate,
  save: ApplyOptions["save"],
): Promise<AppliedFile> {
  const { document, path, beforeSha256 } = change;
  if (document.text !== change.text) throw differs(path.name);
  const report = { path: path.name, operation: "update" as const, beforeSha256 };
  if (change.wasDirty && save === "clean") {
    return { ...report, afterSha256: (await bufferState(files, document)).sha256 };
  }
  if (!(await saveDocument(document))) {
    throw new EditorError("not_saved", `${path.name} could not be saved.`, "See the editor's message about it.");
  }
  if (change.exactBytes !== undefined) await files.writeDisk(path.absolute, change.exactBytes);
  const bytes = await files.readDisk(path.absolute, { maxBytes: maxFileBytes });
  if (bytes === undefined) throw differs(path.name);
  // The content that is now on disk: a formatter that runs on save may have changed it.
  return { ...report, afterSha256: sha256Hex(bytes) };
}

function differs(name: string): EditorError {
  return new EditorError(
    "not_applied",
    `${name} does not hold what was to be applied.`,
    "Another program or person may be editing it: try again.",
  );
}

/**
 * Reverts the applied part of a failed change set. What others changed meanwhile is left alone. Resolves with the names of files
 * that could not be restored.
 */
async function restore(files: EditorFiles, planned: readonly PlannedChange[]): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const change of planned.toReversed()) {
    const restored = await restoreOne(files, change).catch(() => false);
    if (!restored) lost.unshift(change.path.name);
  }
  return lost;
}

async function restoreOne(files: EditorFiles, change: PlannedChange): Promise<boolean> {
  const { absolute } = change.path;
  const now = await files.readDisk(absolute, { maxBytes: maxFileBytes });
  switch (change.operation) {
    case "create":
      if (now === undefined) return true;
      if (sha256Hex(now) !== sha256Hex(change.bytes)) return false;
      await files.deleteFromDisk(absolute);
      return true;
    case "delete":
      if (now === undefined) await files.writeDisk(absolute, change.before);
      else return sha256Hex(now) === change.beforeSha256;
      return true;
    case "update":
      return restoreUpdate(files, change);
  }
}

async function restoreUpdate(files: EditorFiles, change: PlannedUpdate): Promise<boolean> {
  const { document, path, text, beforeText, beforeEol, before, wasDirty } = change;
  if (document.text !== beforeText) {
    if (document.text !== text) return false;
    const ends = lineEndsOf(text);
    const eol = ends === "lf" || ends === "crlf" ? ends : document.eol;
    if (!(await files.applyEdits([textEdit(path, text, eol, beforeText, beforeEol)], "Gennai: undo"))) return false;
    if (document.text !== beforeText) return false;
  }
  if (wasDirty) return true;
  if (!(await saveDocument(document))) return false;
  const now = await files.readDisk(path.absolute, { maxBytes: maxFileBytes });
  if (before !== undefined && (now === undefined || sha256Hex(now) !== sha256Hex(before))) {
    await files.writeDisk(path.absolute, before);
  }
  return true;
}
