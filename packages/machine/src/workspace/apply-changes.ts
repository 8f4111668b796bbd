import { closeSync, constants, copyFileSync, fsync, lstatSync, openSync, symlinkSync, unlinkSync } from "node:fs";
import { promisify } from "node:util";
import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { carryOut, removeRest } from "../change-set/carry-out.ts";
import { releaseSet, takeSet } from "../change-set/file-sets.ts";
import { MadeDirectories, removeEmptyDirectories } from "../change-set/made-directories.ts";
import { NotCommitted } from "../change-set/not-committed.ts";
import { placeNewFile, removeFile, replaceFile } from "../change-set/place-file.ts";
import {
  type ChangeSet,
  dropJournal,
  enterPhase,
  noteJournal,
  readJournal,
  type SetJournal,
  writeJournal,
} from "../change-set/set-journal.ts";
import { entryAt } from "../entries/look-at-entry.ts";
import { sha256 } from "./files/content-digest.ts";
import { fileFailure } from "./files/file-failure.ts";
import { type HeldDirectory, holdDirectory } from "./files/held-directory.ts";
import { likeFile, temporaryName, writeTemporaryFile } from "./files/held-file.ts";
import {
  type CopiedFile,
  type DiskChange,
  type InspectedChange,
  inspectChange,
  staleFile,
  verifyBase,
} from "./inspect-change.ts";
import { checkRootInPlace, type WorkspaceRoot } from "./paths/workspace-root.ts";
import type { AppliedChange, ApplyOptions } from "./workspace.ts";

/**
 * `Workspace.apply` on the disk. The steps: look at every file, write the journal, write all new contents beside their places and
 * sync them, put them in place. Several files are carried out as what a command did. One is compared once more and replaced
 * within one tick, so that exactly one of several callers in one process wins; between processes a window of some microseconds
 * remains.
 */
export async function applyChanges(
  root: WorkspaceRoot,
  stateDir: string,
  changes: readonly DiskChange[],
  options: ApplyOptions = {},
): Promise<readonly AppliedChange[]> {
  const { ready = Promise.resolve() } = options;
  // Nobody may be waiting for it yet when it fails.
  ready.catch(() => undefined);
  try {
    return await applyWhen(ready, root, stateDir, changes, options);
  } catch (error) {
    // If that failed, it is the reason. It has ended in any case.
    await ready;
    throw error;
  }
}

async function applyWhen(
  ready: Promise<unknown>,
  root: WorkspaceRoot,
  stateDir: string,
  changes: readonly DiskChange[],
  options: ApplyOptions,
): Promise<readonly AppliedChange[]> {
  if (changes.length === 0) return ready.then(() => []);
  checkDistinct(changes);
  const planned: PlannedChange[] = [];
  for (const change of changes) {
    const inspected = await inspectChange(root, change, options);
    planned.push({ ...inspected, temporary: temporaryName(), after: digestAfter(inspected) });
  }
  using made = new MadeDirectories(root, planned);
  const plan: Plan = { root, planned, made, journal: journalOf(root, planned, made) };
  const [only, ...others] = planned;
  if (only !== undefined && others.length === 0 && isPlain(only)) await applyOne(ready, stateDir, plan, only, options);
  else await applySet(ready, stateDir, plan);
  for (const { emptied } of planned) removeEmptyDirectories(root, emptied);
  return planned.map((change) => appliedChange(change, made));
}

function digestAfter({ content, onlyMode, before }: InspectedChange): string | undefined {
  if (onlyMode !== undefined) return before?.sha256;
  return content instanceof Uint8Array ? sha256(content) : content?.sha256;
}

interface PlannedChange extends InspectedChange {
  /** Name of the file that holds the new content until it is put in place. */
  readonly temporary: string;
  readonly after: string | undefined;
}

interface Plan {
  readonly root: WorkspaceRoot;
  readonly planned: readonly PlannedChange[];
  readonly made: MadeDirectories;
  readonly journal: SetJournal;
}

function checkDistinct(changes: readonly DiskChange[]): void {
  const seen = new Set<string>();
  for (const { path } of changes) {
    if (seen.has(path.relative)) {
      throw new ToolFailure("duplicate_change", `${path.relative} is changed twice at once.`, {
        hint: "Put both changes of a file into one.",
      });
    }
    seen.add(path.relative);
  }
}

function journalOf(root: WorkspaceRoot, planned: readonly PlannedChange[], made: MadeDirectories): SetJournal {
  return {
    version: 1,
    markers: [],
    operations: planned.map((change) => {
      const { path, temporary, before } = change;
      const identity = before?.identity ?? null;
      return { root: 0, path: path.relative, name: temporary, before: identity, after: intended(change) };
    }),
    locks: [],
    roots: [{ path: root.path, device: root.device, inode: root.inode }],
    made: made.paths.map((path) => ({ root: 0, path })),
  };
}

function intended({ onlyMode, before, after, isLink }: PlannedChange): SetJournal["operations"][number]["after"] {
  if (after === undefined) return null;
  if (onlyMode === undefined || before === undefined || "sha256" in before.identity)
    return { type: isLink ? "link" : "file", sha256: after };
  return { ...before.identity, mode: onlyMode };
}

/** One file whose content was compared in memory. */
function isPlain({ isLink, before }: PlannedChange): boolean {
  return !isLink && (before === undefined || before.bytes !== undefined);
}

/** Its journal tells only what to clean up: the file is whole at any time. */
async function applyOne(
  ready: Promise<unknown>,
  stateDir: string,
  plan: Plan,
  change: PlannedChange,
  { later }: ApplyOptions,
): Promise<void> {
  const { root, made } = plan;
  const set = await beginSet(stateDir, plan, noteJournal);
  let isPlaced = false;
  try {
    await prepare(plan);
    await ready;
    using held = new DisposableStack();
    const directory = held.use(holdDirectory(root, change.parents));
    placeOne(root, directory, change);
    isPlaced = true;
    const names = syncNames(plan, directory, held.move());
    // New directories are held only as long as this runs.
    if (later === undefined || made.paths.length > 0) await names;
    else later.push(names);
    // Nobody may be waiting for it yet when it fails.
    names.catch(() => undefined);
  } catch (error) {
    if (isPlaced) throw error;
    tidy(set, plan);
    throw fileFailure(error, change.operation, change.path.relative);
  } finally {
    dropJournal(set, "committing");
    releaseSet(set);
  }
}

/** @param held disposed at the end */
async function syncNames(plan: Plan, directory: HeldDirectory, held: Disposable): Promise<void> {
  using _held = held;
  try {
    await directory.sync();
    await plan.made.sync();
  } catch (error) {
    throw partlyApplied(plan, error);
  }
}

/** No `await` in here: nothing else in this process runs between the comparison and the rename. */
function placeOne(root: WorkspaceRoot, directory: HeldDirectory, change: PlannedChange): void {
  checkRootInPlace(root);
  verifyBase(directory, change);
  switch (change.operation) {
    case "create":
      return placeNewFile(directory, change.temporary, change.name);
    case "update":
      return replaceFile(directory, change.temporary, change.name);
    case "delete":
      return removeFile(directory, change.name);
  }
}

async function applySet(ready: Promise<unknown>, stateDir: string, plan: Plan): Promise<void> {
  const set = await beginSet(stateDir, plan, (begun, journal) => writeJournal(begun, "committing", journal));
  try {
    await prepare(plan);
    await ready;
  } catch (error) {
    tidy(set, plan);
    dropJournal(set, "committing");
    releaseSet(set);
    throw error;
  }
  try {
    await carryOut(set, plan.journal);
  } catch (error) {
    // Else it was taken back.
    if (readJournal(set.directory) !== undefined) throw partlyApplied(plan, error);
    releaseSet(set);
    throw refusalFor(error);
  }
  await enterPhase(set, "committing", "committed");
  removeRest(set, plan.journal);
  dropJournal(set, "committed");
  releaseSet(set);
}

async function beginSet(
  stateDir: string,
  { root, planned, journal }: Plan,
  write: (set: ChangeSet, journal: SetJournal) => Promise<void> | void,
): Promise<ChangeSet> {
  try {
    const set = takeSet(stateDir, root);
    await write(set, journal);
    return set;
  } catch (error) {
    throw fileFailure(error, "write the journal for", planned[0]?.path.relative ?? "");
  }
}

async function prepare({ root, planned, made }: Plan): Promise<void> {
  made.make();
  // Many at once, so that the file system writes its own journal once for many.
  for (let at = 0; at < planned.length; at += mostOpen) {
    await Promise.all(planned.slice(at, at + mostOpen).map((change) => writeBeside(root, change)));
  }
}

async function writeBeside(root: WorkspaceRoot, change: PlannedChange): Promise<void> {
  const { content, isLink, parents, temporary, like, operation, path } = change;
  if (content === undefined) return;
  try {
    using directory = holdDirectory(root, parents);
    if (!(content instanceof Uint8Array)) return await copyBeside(directory, temporary, content, like);
    if (isLink) return symlinkSync(Buffer.from(content), directory.entry(temporary));
    const descriptor = writeTemporaryFile(directory, temporary, content, like);
    try {
      await fsyncAsync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw fileFailure(error, operation, path.relative);
  }
}

/** Copies a file, or shares its blocks where the file system can. Throws `ToolFailure` if it has another content now. */
async function copyBeside(
  directory: HeldDirectory,
  temporary: string,
  { path, sha256: expected }: CopiedFile,
  like: InspectedChange["like"],
): Promise<void> {
  const copy = directory.entry(temporary);
  copyFileSync(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const descriptor = openSync(copy, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const copied = await entryAt(copy, lstatSync(copy, { bigint: true }));
    if (copied.type !== "file" || copied.sha256 !== expected) {
      unlinkSync(copy);
      throw new ToolFailure("content_gone", "The earlier content of a file is no longer as it was kept.");
    }
    likeFile(descriptor, like ?? { mode: 0o666 & ~process.umask() });
    await fsyncAsync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function tidy(set: ChangeSet, { made, journal }: Plan): void {
  try {
    removeRest(set, journal);
    made.remove();
  } catch {
    // The error that led here is more useful than one about a temporary file.
  }
}

function refusalFor(error: unknown): unknown {
  if (!(error instanceof NotCommitted)) return fileFailure(error, "change", "");
  const [conflict] = error.conflicts;
  const path = conflict?.path ?? "";
  return error.code === "stale_file"
    ? staleFile(`${path}: ${conflict?.reason}`, error)
    : fileFailure(error.cause, "change", path);
}

function partlyApplied({ planned }: Plan, cause: unknown): ToolFailure {
  const paths = planned.map(({ path }) => path.relative).join(", ");
  return new ToolFailure(
    "partially_applied",
    `${errorMessage(cause)} These files may stay changed, because undoing them failed: ${paths}.`,
    {
      failureClass: "partial_execution",
      hint: "Tell the user. The next start of the server completes or undoes what was begun.",
      cause,
    },
  );
}

function appliedChange(change: PlannedChange, made: MadeDirectories): AppliedChange {
  const { path, operation, before, after } = change;
  const directories = operation === "create" ? made.above(path.relative) : [];
  return {
    path,
    operation,
    before:
      before === undefined
        ? undefined
        : { sha256: before.sha256, ...(before.bytes === undefined ? {} : { bytes: before.bytes }) },
    afterSha256: after,
    ...(before === undefined ? {} : { beforeMode: before.mode & 0o777 }),
    ...(directories.length === 0 ? {} : { madeDirectories: directories }),
    ...(operation === "update" && (before?.names ?? 1) > 1 ? { isLinked: true } : {}),
  };
}

const mostOpen = 100;
const fsyncAsync = promisify(fsync);
