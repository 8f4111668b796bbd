import { closeSync, fsync } from "node:fs";
import { promisify } from "node:util";
import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { sha256 } from "../files/content-digest.ts";
import { fileFailure } from "../files/file-failure.ts";
import { type HeldDirectory, holdDirectory } from "../files/held-directory.ts";
import { temporaryName, writeTemporaryFile } from "../files/held-file.ts";
import { checkRootInPlace, type WorkspaceRoot } from "../paths/workspace-root.ts";
import type { AppliedChange, ApplyOptions, WorkspaceChange } from "../workspace.ts";
import { removeJournal, writeJournal } from "./change-journal.ts";
import { type InspectedChange, inspectChange, verifyBase } from "./inspect-change.ts";
import { MadeDirectories, removeEmptyDirectories } from "./made-directories.ts";
import { placeNewFile, removeFile, replaceFile } from "./place-file.ts";
import { undoChange } from "./undo-change.ts";

/**
 * `Workspace.apply` on the disk. The steps: look at every file, write the journal, stage all new contents in temporary files and
 * sync them; then, within one tick, compare each file once more and put the new one in its place. So exactly one of several
 * callers in one process wins; between processes a window of some microseconds remains from the last comparison to the rename.
 */
export async function applyChanges(
  root: WorkspaceRoot,
  stateDir: string,
  changes: readonly WorkspaceChange[],
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
  changes: readonly WorkspaceChange[],
  options: ApplyOptions,
): Promise<readonly AppliedChange[]> {
  if (changes.length === 0) return ready.then(() => []);
  checkDistinct(changes);
  const inspected = changes.map((change) => inspectChange(root, change, options));
  const made = new MadeDirectories(root, inspected);
  const staged = inspected.map((change) => ({
    ...change,
    temporary: temporaryName(),
    after: change.bytes === undefined ? undefined : sha256(change.bytes),
  }));
  const journal = openJournal(root, stateDir, staged, made);
  const directories = new Map<string, HeldDirectory>();
  const done: StagedChange[] = [];
  let standing: readonly string[] = [];
  try {
    await stage(root, staged, made, directories);
    await ready;
    commit(root, staged, directories, done);
    await syncAll(directories.values());
    await made.sync();
  } catch (error) {
    standing = takeBack(root, done);
    removeTemporaries(staged, directories);
    made.remove();
    throw standing.length === 0
      ? fileFailure(error, "change", staged[0]?.path.relative ?? "")
      : partlyApplied(standing, error);
  } finally {
    for (const directory of directories.values()) directory[Symbol.dispose]();
    made[Symbol.dispose]();
    // If something could not be taken back, the journal stays with the earlier contents, for recovery to read.
    if (standing.length === 0) removeJournal(journal);
  }
  for (const { emptied } of staged) removeEmptyDirectories(root, emptied);
  return staged.map(({ path, operation, before, after }) => {
    const directories = operation === "create" ? made.above(path.relative) : [];
    return {
      path,
      operation,
      before: before === undefined ? undefined : { bytes: before.bytes, sha256: before.sha256 },
      afterSha256: after,
      ...(before === undefined ? {} : { beforeMode: before.mode & 0o777 }),
      ...(directories.length === 0 ? {} : { madeDirectories: directories }),
      ...(operation === "update" && (before?.names ?? 1) > 1 ? { isLinked: true } : {}),
    };
  });
}

interface StagedChange extends InspectedChange {
  /** Name of the file that holds the new content until the rename, or the old content that is put back. */
  readonly temporary: string;
  readonly after: string | undefined;
}

function checkDistinct(changes: readonly WorkspaceChange[]): void {
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

function openJournal(
  root: WorkspaceRoot,
  stateDir: string,
  staged: readonly StagedChange[],
  made: MadeDirectories,
): string {
  const withContents = staged.length > 1;
  try {
    return writeJournal(stateDir, {
      version: 1,
      root: { path: root.path, device: root.device, inode: root.inode },
      directories: [...made.paths],
      changes: staged.map(({ operation, path, before, after, temporary }) => ({
        operation,
        path: path.relative,
        before: before?.sha256 ?? null,
        after: after ?? null,
        temporary,
        preImage:
          withContents && before !== undefined
            ? {
                bytes: Buffer.from(before.bytes).toString("base64"),
                mode: before.mode,
                owner: before.owner,
                group: before.group,
              }
            : null,
      })),
    });
  } catch (error) {
    throw fileFailure(error, "write the journal for", staged[0]?.path.relative ?? "");
  }
}

async function stage(
  root: WorkspaceRoot,
  staged: readonly StagedChange[],
  made: MadeDirectories,
  directories: Map<string, HeldDirectory>,
): Promise<void> {
  made.make();
  for (const change of staged) {
    try {
      const key = change.parents.join("/");
      const directory = directories.get(key) ?? holdDirectory(root, change.parents);
      directories.set(key, directory);
      if (change.bytes === undefined) continue;
      const descriptor = writeTemporaryFile(directory, change.temporary, change.bytes, change.like);
      try {
        await fsyncAsync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      throw fileFailure(error, change.operation, change.path.relative);
    }
  }
}

/**
 * No `await` in here: nothing else in this process runs between a comparison and its rename.
 *
 * @param done gets the changes that were made, also when a later one throws
 */
function commit(
  root: WorkspaceRoot,
  staged: readonly StagedChange[],
  directories: ReadonlyMap<string, HeldDirectory>,
  done: StagedChange[],
): void {
  checkRootInPlace(root);
  for (const change of staged) {
    try {
      commitOne(change, directories);
      done.push(change);
    } catch (error) {
      throw fileFailure(error, change.operation, change.path.relative);
    }
  }
}

function commitOne(change: StagedChange, directories: ReadonlyMap<string, HeldDirectory>): void {
  const directory = directories.get(change.parents.join("/"));
  if (directory === undefined) throw new Error(`${change.path.relative} was not staged`);
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

/** @returns paths of the changes that remain */
function takeBack(root: WorkspaceRoot, done: readonly StagedChange[]): readonly string[] {
  return done.toReversed().flatMap(({ path, before, after, temporary }) => {
    const change = {
      path: path.relative,
      before: before?.sha256 ?? null,
      after: after ?? null,
      temporary,
      preImage: before,
    };
    try {
      return undoChange(root, change) ? [] : [path.relative];
    } catch {
      return [path.relative];
    }
  });
}

function partlyApplied(standing: readonly string[], cause: unknown): ToolFailure {
  const reason = errorMessage(cause);
  return new ToolFailure(
    "partially_applied",
    `${reason} These changes were made before and could not be taken back: ${standing.join(", ")}.`,
    {
      failureClass: "partial_execution",
      hint: "Tell the user. The contents from before are kept in the server's state directory.",
      cause,
    },
  );
}

function removeTemporaries(staged: readonly StagedChange[], directories: ReadonlyMap<string, HeldDirectory>): void {
  for (const { temporary, parents } of staged) {
    const directory = directories.get(parents.join("/"));
    if (directory === undefined) continue;
    try {
      removeFile(directory, temporary);
    } catch {
      // The error that led here is more useful than one about a temporary file.
    }
  }
}

async function syncAll(directories: Iterable<HeldDirectory>): Promise<void> {
  for (const directory of directories) await directory.sync();
}

const fsyncAsync = promisify(fsync);
