import { join } from "node:path";
import type { DirectoryChangeRecord, FileChangeRecord } from "@gennai/agent/events/proposal";
import type { WorkspacePath } from "@gennai/governance/effect";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { DiskChange } from "@gennai/machine/workspace/inspect-change";
import type { FileContents, KeptState } from "./file-contents.ts";
import type { PlannedRestore } from "./restore-plan.ts";

/** Where a restore writes. */
export interface RestorePlace {
  /** Real path of the workspace. */
  readonly root: string;
  /** Makes the changes, all or none. */
  apply(changes: readonly DiskChange[]): Promise<unknown>;
  /** As the machine's `takeDirectoriesBack`. */
  takeDirectoriesBack?(changes: readonly DirectoryChangeRecord[]): () => void;
  /** Directories to remove if a file's removal leaves them empty, outermost first; by default all above it. */
  emptied?(path: string): readonly string[];
}

/**
 * Writes a plan in one atomic step, or in two where a directory and a file change places, each entry checked against what the plan
 * was based on. Rejects with `ToolFailure` if one changed meanwhile, and with `CheckpointError` `not_kept`.
 */
export async function writeRestore(
  plan: readonly PlannedRestore[],
  contents: FileContents,
  place: RestorePlace & {
    /** Called with the changes before anything is written; if it rejects, nothing is written. */
    readonly announce: (files: readonly FileChangeRecord[]) => Promise<void>;
    /** Changes of directories to take back. */
    readonly directories?: readonly DirectoryChangeRecord[];
  },
): Promise<readonly FileChangeRecord[]> {
  const written = await targetContents(plan, contents);
  const files = plan.map((each) => recordOf(each, written.get(each)));
  await place.announce(files);
  const changes = plan.map((each) => changeOf(each, place, written.get(each)));
  const settle = place.takeDirectoriesBack?.(place.directories ?? []);
  for (const step of stepsOf(changes)) await place.apply(step);
  settle?.();
  return files;
}

/** A plan's change, as shown to the user. */
export function recordOf({ path, present, target }: PlannedRestore, written: Written | undefined): FileChangeRecord {
  const before = digestOf(present);
  return {
    path,
    operation: before === undefined ? "create" : target.type === "absent" ? "delete" : "update",
    ...(before === undefined ? {} : { beforeSha256: before }),
    ...(present.type === "file" && present.mode !== undefined ? { beforeMode: present.mode } : {}),
    ...(present.type === "link" ? { beforeLink: true } : {}),
    ...(written === undefined ? {} : { afterSha256: written.sha256 }),
    ...(target.type === "file" && target.mode !== undefined ? { afterMode: target.mode } : {}),
    ...(target.type === "link" ? { afterLink: true } : {}),
  };
}

/** SHA-256 of a file's content or a link's target; undefined if nothing is there. */
function digestOf(present: PlannedRestore["present"]): string | undefined {
  return "sha256" in present ? present.sha256 : undefined;
}

/** What a file will hold: bytes, another file's content, or undefined if it stays. */
interface Written {
  readonly sha256: string;
  readonly from: Uint8Array | string | undefined;
}

/** Contents of snapshots that are read at once. */
const mostRead = 500;

async function targetContents(
  plan: readonly PlannedRestore[],
  contents: FileContents,
): Promise<ReadonlyMap<PlannedRestore, Written>> {
  const found = new Map<PlannedRestore, Written>();
  const toRead: { readonly each: PlannedRestore; readonly target: KeptState }[] = [];
  for (const each of plan) {
    const { target, isOnlyMode, merged } = each;
    if (target.type === "absent") continue;
    if (merged !== undefined) {
      found.set(each, { sha256: sha256(merged), from: merged });
      continue;
    }
    const from = isOnlyMode ? undefined : await contents.fileOf(target);
    if (isOnlyMode || from !== undefined) found.set(each, { sha256: await contents.digest(target), from });
    else toRead.push({ each, target });
  }
  for (let at = 0; at < toRead.length; at += mostRead) {
    const part = toRead.slice(at, at + mostRead);
    const read = await contents.read(part.map(({ target }) => target));
    for (const [index, { each }] of part.entries()) {
      const bytes = read[index];
      if (bytes !== undefined) found.set(each, { sha256: sha256(bytes), from: bytes });
    }
  }
  return found;
}

function changeOf(each: PlannedRestore, place: RestorePlace, written: Written | undefined): DiskChange {
  const { path: relative, present, target } = each;
  const path: WorkspacePath = { raw: relative, relative, absolute: join(place.root, relative), inside: true };
  const baseSha256 = digestOf(present);
  const base = { baseSha256: baseSha256 ?? "", isBaseLink: present.type === "link" };
  if (written === undefined) {
    const emptied = place.emptied?.(relative) ?? parentsOf([relative]);
    return { operation: "delete", path, ...base, emptied };
  }
  const mode = target.type === "file" && target.mode !== undefined ? { mode: target.mode } : {};
  const { from } = written;
  if (from === undefined) return { operation: "mode", path, baseSha256: base.baseSha256, mode: mode.mode ?? 0 };
  if (typeof from === "string") {
    return { operation: "copy", path, source: { path: from, sha256: written.sha256 }, ...base, ...mode, baseSha256 };
  }
  const made = { path, bytes: from, isLink: target.type === "link", ...mode };
  return baseSha256 === undefined ? { operation: "create", ...made } : { operation: "update", ...made, ...base };
}

/** One step, unless a file must make way for a directory or the reverse. */
function stepsOf(changes: readonly DiskChange[]): readonly (readonly DiskChange[])[] {
  const deletes = changes.filter(({ operation }) => operation === "delete");
  const others = changes.filter(({ operation }) => operation !== "delete");
  const gone = new Set(deletes.map(({ path }) => path.relative));
  const made = new Set(others.map(({ path }) => path.relative));
  const inTheWay =
    parentsOf([...made]).some((path) => gone.has(path)) || parentsOf([...gone]).some((path) => made.has(path));
  return inTheWay ? [deletes, others] : [changes];
}

/** Every directory above these paths, outermost first. */
function parentsOf(paths: readonly string[]): readonly string[] {
  const parents = new Set<string>();
  for (const path of paths) {
    const components = path.split("/");
    for (let depth = 1; depth < components.length; depth += 1) parents.add(components.slice(0, depth).join("/"));
  }
  return [...parents].sort((one, other) => one.length - other.length);
}
