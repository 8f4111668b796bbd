import type { Effect, FileWrite, WorkspacePath } from "@gennai/governance/effect";
import type { Analysis, BuiltInTool, FileChange, ToolOutcome, Verification } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { changedBlocks, type LineSpan } from "@gennai/machine/changes/changed-blocks";
import { changedText, type EditableText, fileBytes, fileText } from "@gennai/machine/changes/editable-text";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { FileContent, Workspace } from "@gennai/machine/workspace/workspace";
import type { LineEdit } from "@gennai/protocol/diff/line-edit";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { EditorBridge } from "../../../bridge/session-bridge.ts";
import type { KnownFiles } from "../../../session/state/known-files.ts";
import type { SeenContents } from "../../../session/state/seen-contents.ts";
import { pathName } from "../../path-name.ts";
import { maxFileBytes } from "../../text-limits.ts";
import type { ToolFact } from "../../tool-fact.ts";
import type { FittedEdit } from "./edit-text.ts";
import { applyInEditor } from "./editor-change.ts";
import { fitNote } from "./fit-note.ts";
import { refuseMaskedText } from "./masked-text.ts";
import { appliedRecord, lineReport, notesOf, observedAfter, type PlannedChange } from "./planned-change.ts";

export interface FileChangePorts {
  readonly workspace: Workspace;
  readonly knownFiles: KnownFiles;
  /** Stores a file's earlier content, for undo. */
  readonly blobs: BlobStore;
  /** Contents that the session saw, for comparing a stale one. */
  readonly seen?: SeenContents | undefined;
  /** A file with unsaved changes is written only through the editor that has them. */
  readonly editor: EditorBridge;
}

/** The intended new state of a file. */
export type IntendedFile =
  | IntendedText
  /** Bytes and permission bits of another file; `content` if they are text. */
  | {
      readonly type: "moved";
      readonly bytes: Uint8Array;
      readonly mode: number;
      readonly content: string | undefined;
      readonly note?: string;
    }
  | { readonly type: "gone" };

export interface IntendedText {
  readonly type: "text";
  readonly text: EditableText;
  readonly spans: readonly LineSpan[];
  /** Edits whose old text matched inexactly. */
  readonly fitted?: readonly FittedEdit[];
  /** The arguments as text edits, for a call that gave line numbers. */
  readonly byText?: unknown;
  /** Note for the model about how the change was computed. */
  readonly note?: string;
  /** What the model read no longer identifies what a next change would refer to. */
  readonly readAgain?: boolean;
}

/** What edits make of a text. @param edits between the old text and the new one */
export function intendedEdits(old: EditableText, text: string, edits: readonly LineEdit[]): IntendedText {
  const spans = edits.map(({ newStart, newCount }) => ({ start: newStart, count: newCount }));
  return { type: "text", text: changedText(old, text, edits), spans };
}

/** Changes by the effects that announced them, so that exactly what the policies judged is run. */
export class PlannedChanges {
  readonly #ports: FileChangePorts;
  readonly #plans = new WeakMap<Effect, PlannedChange | ToolFailure>();

  constructor(ports: FileChangePorts) {
    this.#ports = ports;
  }

  /** Throws the failures that were held back. */
  readonly execute: BuiltInTool<unknown>["execute"] = async (_args, analysis, { signal }) =>
    applyPlanned(this.#ports, this.#of(analysis), analysis.statement, signal);

  readonly verify = (_args: unknown, outcome: ToolOutcome, { signal }: { readonly signal: AbortSignal }) =>
    verifyChanges(this.#ports.workspace, outcome, signal);

  /** Whether the session read this content already, so that an error may tell of it at once. */
  isSeen(path: WorkspacePath, content: FileContent | undefined): boolean {
    return content === undefined || this.#ports.knownFiles.base(path.relative)?.sha256 === content.sha256;
  }

  /** The effect of a possible change. Throws `no_change`, `too_large`, `masked_text`. */
  plan(path: WorkspacePath, before: FileContent | undefined, intended: IntendedFile, inEditor = false): FileWrite {
    const note = noteOf(intended);
    const readAgain = intended.type === "text" && intended.readAgain === true;
    const planned = { ...plannedChange(path, before, intended), inEditor, note, readAgain };
    const content = contentOf(intended);
    if (content !== undefined && intended.type === "text") {
      refuseMaskedText(content, () => (before === undefined ? "" : Buffer.from(before.bytes).toString("utf8")));
    }
    const effect: FileWrite = {
      type: "write",
      operation: planned.change.operation,
      path,
      base: this.#ports.knownFiles.base(path.relative),
      current: before?.sha256,
      ...(content === undefined ? {} : { content }),
    };
    this.#plans.set(effect, planned);
    return effect;
  }

  /**
   * The effect of an impossible change. The failure is held back until `execute`: it may reveal the file's content, which must
   * wait until the policies allowed the write.
   */
  planFailure(
    operation: FileWrite["operation"],
    path: WorkspacePath,
    current: string | undefined,
    failure: ToolFailure,
  ): FileWrite {
    const base = this.#ports.knownFiles.base(path.relative);
    return this.#held({ type: "write", operation, path, base, current }, failure);
  }

  /** The effect on a path of which one lies outside the workspace: not examined, so that its existence is not revealed. */
  planOutside(operation: FileWrite["operation"], path: WorkspacePath, outside = path): FileWrite {
    const failure = new ToolFailure("outside_workspace", `${pathName(outside)} lies outside the workspace.`, {
      failureClass: "permission_denied",
    });
    return this.#held({ type: "write", operation, path, base: undefined, current: undefined }, failure);
  }

  #held(effect: FileWrite, failure: ToolFailure): FileWrite {
    this.#plans.set(effect, failure);
    return effect;
  }

  #of(analysis: Analysis): readonly PlannedChange[] {
    return analysis.effects.map((effect) => {
      const plan = this.#plans.get(effect);
      if (plan === undefined) throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
      if (plan instanceof ToolFailure) throw plan;
      return plan;
    });
  }
}

/** Current content of a workspace file; undefined if it does not exist. Throws `not_a_file`, `too_large`. */
export async function currentContent(
  workspace: Workspace,
  path: WorkspacePath,
  signal: AbortSignal,
): Promise<FileContent | undefined> {
  const stat = await workspace.stat(path);
  if (stat === undefined) return undefined;
  if (stat.kind !== "file") throw new ToolFailure("not_a_file", `${pathName(path)} is not a regular file.`);
  return workspace.read(path, { maxBytes: maxFileBytes, signal });
}

/** Writes when the earlier contents are stored. The changes are atomic. */
async function applyPlanned(
  ports: FileChangePorts,
  planned: readonly PlannedChange[],
  statement: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const later: Promise<unknown>[] = [];
  const ready = keepEarlier(ports.blobs, planned).then(() => signal.throwIfAborted());
  if (planned.some(({ inEditor }) => inEditor)) {
    await ready;
    const outcome = await applyInEditor(ports.editor, planned, statement, signal);
    for (const { change } of planned) {
      if (change.operation !== "delete") ports.seen?.keep(sha256(change.bytes), change.bytes);
    }
    return outcome;
  }
  const applied = await ports.workspace.apply(
    planned.map(({ change }) => change),
    { ready, later },
  );
  for (const [index, { afterSha256 }] of applied.entries()) {
    const change = planned[index]?.change;
    if (afterSha256 !== undefined && change !== undefined && change.operation !== "delete") {
      ports.seen?.keep(afterSha256, change.bytes);
    }
  }
  const changes: FileChange[] = applied.map((file, index) => ({
    path: file.path.relative,
    operation: file.operation,
    beforeSha256: file.before?.sha256,
    afterSha256: file.afterSha256,
    blocks: planned[index]?.blocks ?? [],
  }));
  const fact: ToolFact = { type: "change-set", files: applied.map(appliedRecord) };
  const linked = applied
    .filter(({ isLinked }) => isLinked)
    .map(({ path }) => `\n[${pathName(path)} has other names (hard links): they keep the old content]`);
  return {
    output: `${statement}.${lineReport(changes)}${notesOf(planned)}${linked.join("")}`,
    changes,
    later,
    observed: changes.map(({ path, afterSha256 }, index) => observedAfter(planned[index], path, "disk", afterSha256)),
    facts: [fact],
  };
}

/** For undo. */
async function keepEarlier(blobs: BlobStore, planned: readonly PlannedChange[]): Promise<void> {
  for (const { before } of planned) {
    if (before !== undefined) await blobs.put(before.bytes, "application/octet-stream");
  }
}

/** Reads what was written. */
async function verifyChanges(workspace: Workspace, outcome: ToolOutcome, signal: AbortSignal): Promise<Verification> {
  const changes = outcome.changes ?? [];
  if (changes.length === 0) return { state: "unverified", evidence: "No file was changed." };
  for (const change of changes) {
    const now = await currentContent(workspace, await workspace.resolve(change.path), signal);
    if (now?.sha256 === change.afterSha256) continue;
    const found = now === undefined ? "is not there" : "holds something else";
    return { state: "failed", evidence: `${change.path} ${found}: read again after the change.` };
  }
  const names = changes.map(({ path, operation }) => `${path}${operation === "delete" ? " (gone)" : ""}`).join(", ");
  return { state: "verified", evidence: `Read again after the change, the hash is right: ${names}.` };
}

function plannedChange(
  path: WorkspacePath,
  before: FileContent | undefined,
  intended: IntendedFile,
): Omit<PlannedChange, "inEditor" | "note" | "readAgain"> {
  if (intended.type === "gone") {
    if (before === undefined) throw notFound(path);
    return { change: { operation: "delete", path, baseSha256: before.sha256 }, before, blocks: [] };
  }
  const bytes = intended.type === "text" ? fileBytes(intended.text) : intended.bytes;
  if (bytes.length > maxFileBytes) {
    throw new ToolFailure("too_large", `${pathName(path)} would be larger than ${maxFileBytes} bytes.`);
  }
  const blocks = intended.type === "text" ? changedBlocks(intended.text.text, intended.spans) : [];
  if (before === undefined) {
    const mode = intended.type === "moved" ? { mode: intended.mode } : {};
    return { change: { operation: "create", path, bytes, ...mode }, before, blocks };
  }
  if (Buffer.compare(before.bytes, bytes) === 0) {
    throw new ToolFailure("no_change", `${pathName(path)} already says exactly this; there is nothing to write.`);
  }
  return { change: { operation: "update", path, bytes, baseSha256: before.sha256 }, before, blocks };
}

export function notFound(path: WorkspacePath, hint?: string): ToolFailure {
  return new ToolFailure("not_found", `There is no file ${pathName(path)}.`, { hint });
}

function noteOf(intended: IntendedFile): string {
  if (intended.type === "gone") return "";
  return intended.note ?? (intended.type === "text" ? fitNote(intended.fitted ?? []) : "");
}

function contentOf(intended: IntendedFile): string | undefined {
  if (intended.type === "gone") return undefined;
  return intended.type === "text" ? fileText(intended.text) : intended.content;
}
