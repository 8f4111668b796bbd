import { closeSync, constants, lstatSync, openSync } from "node:fs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { isEntry } from "../change-set/held-operation.ts";
import { type OperationIdentity, seenIdentity } from "../change-set/set-journal.ts";
import { identityOf } from "../entries/look-at-entry.ts";
import { systemErrorCode } from "../system-error.ts";
import { fileFailure } from "./files/file-failure.ts";
import { type HeldDirectory, holdDirectory } from "./files/held-directory.ts";
import { type HeldFile, holdsBytes, readHeldFile } from "./files/held-file.ts";
import { insideOnly } from "./paths/inside-only.ts";
import { splitRelative } from "./paths/split-relative.ts";
import type { WorkspaceRoot } from "./paths/workspace-root.ts";
import type { ApplyOptions, WorkspaceChange } from "./workspace.ts";

const forWriting = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** What the disk takes. `copy`: a new file, or one in the place of the base, with the content of another file of this machine. */
export type DiskChange =
  | WorkspaceChange
  | {
      readonly operation: "copy";
      readonly path: WorkspaceChange["path"];
      readonly source: CopiedFile;
      /** As in an update; undefined where nothing is. */
      readonly baseSha256: string | undefined;
      readonly isBaseLink?: boolean;
      readonly mode?: number;
    }
  | {
      readonly operation: "mode";
      readonly path: WorkspaceChange["path"];
      readonly baseSha256: string;
      /** Permission bits. */
      readonly mode: number;
    };

/** A file outside the workspace, and the SHA-256 that it must have. */
export interface CopiedFile {
  /** Absolute. */
  readonly path: string;
  readonly sha256: string;
}

/** A change together with what it would replace, as it was when the change was asked for. */
export interface InspectedChange {
  readonly operation: WorkspaceChange["operation"];
  readonly path: WorkspaceChange["path"];
  readonly parents: readonly string[];
  readonly name: string;
  /** New content, or target of a link; undefined for a delete, and if only the mode changes. */
  readonly content: Uint8Array | CopiedFile | undefined;
  readonly isLink: boolean;
  /** undefined for a create. */
  readonly before: BaseEntry | undefined;
  /** Mode and owner for the new file; undefined for the system's defaults. */
  readonly like: Pick<HeldFile, "mode" | "owner" | "group"> | undefined;
  /** Permission bits, if only they change. */
  readonly onlyMode?: number;
  /** Directories to remove afterwards if they are empty. */
  readonly emptied: readonly string[];
}

/** What a change is based on. Of a link and a large file, no content is in memory. */
interface BaseEntry extends Omit<HeldFile, "bytes"> {
  readonly bytes?: Uint8Array;
  readonly identity: OperationIdentity;
}

/** Bytes. A larger base is recognized by how it was seen: its content is read only once. */
const largest = 16 * 1024 * 1024;

/** Checks a change without touching anything, to refuse early and cheaply what cannot succeed. */
export async function inspectChange(
  root: WorkspaceRoot,
  change: DiskChange,
  { readOnlyToo = false }: Pick<ApplyOptions, "readOnlyToo"> = {},
): Promise<InspectedChange> {
  const operation = operationOf(change);
  const path = insideOnly(change.path);
  if (path.relative === "") throw new ToolFailure("not_a_file", "The workspace root is a directory, not a file.");
  const inspected = {
    operation,
    path,
    ...splitRelative(path.relative),
    content: change.operation === "copy" ? change.source : "bytes" in change ? change.bytes : undefined,
    isLink: "isLink" in change && change.isLink === true,
    like: operation === "create" && change.operation !== "delete" ? ownFile(change.mode) : undefined,
    emptied: change.operation === "delete" ? (change.emptied ?? []) : [],
  };
  try {
    using directory = holdDirectory(root, inspected.parents);
    if (change.operation === "create" || change.baseSha256 === undefined) {
      checkNothingThere(directory, inspected.name, path.relative);
      return { ...inspected, before: undefined };
    }
    const base = {
      path,
      baseSha256: change.baseSha256,
      isBaseLink: "isBaseLink" in change && change.isBaseLink === true,
    };
    if (change.operation === "mode") {
      return { ...inspected, before: await seenBase(directory, inspected.name, base), onlyMode: change.mode };
    }
    const before = await readBase(directory, inspected.name, base);
    // A rename needs no permission on the file itself, but a read-only file was made so on purpose.
    if (operation === "update" && !readOnlyToo && !base.isBaseLink)
      closeSync(openSync(directory.entry(inspected.name), forWriting));
    const mode = change.operation === "delete" ? undefined : change.mode;
    return { ...inspected, before, like: { ...before, ...(mode === undefined ? {} : { mode }) } };
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") {
      if (operation === "create") return { ...inspected, before: undefined };
      throw staleFile(`${path.relative} is no longer there`, error);
    }
    throw fileFailure(error, operation, path.relative);
  }
}

function operationOf(change: DiskChange): WorkspaceChange["operation"] {
  if (change.operation === "copy") return change.baseSha256 === undefined ? "create" : "update";
  return change.operation === "mode" ? "update" : change.operation;
}

function ownFile(mode: number | undefined): InspectedChange["like"] {
  if (mode === undefined) return undefined;
  return { mode, owner: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
}

/**
 * The last check, right before the change is made. Throws `stale_file` if the file is not the one that the change is based on.
 */
export function verifyBase(directory: HeldDirectory, change: InspectedChange): void {
  const { before, name } = change;
  const { relative } = change.path;
  if (before === undefined) checkNothingThere(directory, name, relative);
  else if (!orStale(relative, () => holdsBytes(directory, name, before.bytes ?? nothing))) throw changedSince(relative);
}

interface Base {
  readonly path: WorkspaceChange["path"];
  readonly baseSha256: string;
  readonly isBaseLink?: boolean;
}

async function readBase(directory: HeldDirectory, name: string, base: Base): Promise<BaseEntry> {
  const { path, baseSha256, isBaseLink = false } = base;
  const { relative } = path;
  const place = directory.entry(name);
  const stat = orStale(relative, () => lstatSync(place, { bigint: true }));
  if (!isBaseLink && stat.size <= largest) {
    const current = orStale(relative, () => readHeldFile(directory, name));
    if (current.sha256 !== baseSha256) throw changedSince(relative);
    return { ...current, identity: { type: "file", sha256: baseSha256 } };
  }
  return seenBase(directory, name, base);
}

/** Compares the content, and recognizes the entry by how it is seen from then on. */
async function seenBase(
  directory: HeldDirectory,
  name: string,
  { path: { relative }, baseSha256, isBaseLink = false }: Base,
): Promise<BaseEntry> {
  const place = directory.entry(name);
  const stat = orStale(relative, () => lstatSync(place, { bigint: true }));
  const type = isBaseLink ? "link" : "file";
  if (!(await isEntry(place, stat, { type, sha256: baseSha256 }))) throw changedSince(relative);
  const identity = seenIdentity({ ...identityOf(stat), type });
  const { uid, gid } = stat;
  return { sha256: baseSha256, mode: identity.mode, owner: Number(uid), group: Number(gid), identity };
}

function orStale<T>(relative: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT") throw staleFile(`${relative} is no longer there`, error);
    if (code === "ELOOP") throw staleFile(`${relative} was replaced by a symbolic link`, error);
    throw error;
  }
}

function changedSince(relative: string): ToolFailure {
  return staleFile(`${relative} changed since it was read`);
}

function checkNothingThere(directory: HeldDirectory, name: string, relative: string): void {
  const stat = lstatSync(directory.entry(name), { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory()) throw new ToolFailure("not_a_file", `${relative} is a directory.`);
  throw staleFile(`${relative} exists already`);
}

export function staleFile(reason: string, cause?: unknown): ToolFailure {
  return new ToolFailure("stale_file", `Stale File: ${reason}. Nothing was written.`, {
    hint: "Read the file again and make the change on what it says now.",
    retryable: true,
    cause,
  });
}

const nothing = new Uint8Array();
