import { sha256Hex } from "@gennai/protocol/digest";
import {
  type ChangedFile,
  type ClientFileChange,
  ClientWorkspaceError,
} from "@gennai/protocol/model/session/client-workspace";
import { refuseLinks } from "./client-path-resolution.ts";
import type { FolderFiles } from "./folder-files.ts";

interface Before {
  readonly change: ClientFileChange;
  readonly bytes: Uint8Array | undefined;
}

/**
 * Makes all changes or none: compares every base before the first file is written, and each once more right before its own write.
 * If one fails, takes back what was written. Does not overwrite unsaved changes. Rejects with `ClientWorkspaceError`.
 */
export async function changeFiles(
  files: FolderFiles,
  changes: readonly ClientFileChange[],
): Promise<readonly ChangedFile[]> {
  if (new Set(changes.map(({ path }) => path)).size < changes.length) {
    throw new ClientWorkspaceError("duplicate_change", "One file is changed twice at once.");
  }
  const before: Before[] = [];
  for (const change of changes) before.push({ change, bytes: await checkedBase(files, change) });
  const done: Before[] = [];
  const changed: ChangedFile[] = [];
  try {
    for (const each of before) {
      await checkedBase(files, each.change);
      const made = await missingDirectories(files, each.change.path);
      done.push(each);
      await write(files, each.change);
      changed.push({
        beforeSha256: each.bytes && sha256Hex(each.bytes),
        afterSha256: each.change.bytes && sha256Hex(each.change.bytes),
        beforeMode: undefined,
        madeDirectories: each.change.bytes === undefined ? [] : made,
      });
    }
  } catch (error) {
    const standing = await takeBack(files, done);
    if (standing.length === 0) throw error;
    const names = standing.join(", ");
    throw new ClientWorkspaceError(
      "partially_applied",
      `Not all was changed, and these could not be undone: ${names}.`,
      {
        failureClass: "partial_execution",
        cause: error,
      },
    );
  }
  for (const { emptied } of changes) {
    for (const directory of [...emptied].reverse()) await removeIfEmpty(files, directory);
  }
  return changed;
}

/** The bytes that are there; undefined if there is no file. Throws unless they are the base of the change. */
async function checkedBase(
  files: FolderFiles,
  { path, baseSha256 }: ClientFileChange,
): Promise<Uint8Array | undefined> {
  await refuseLinks(files, path);
  const found = await files.stat(path);
  if (found !== undefined && found.kind !== "file")
    throw new ClientWorkspaceError("not_a_file", `${path} is not a file.`);
  if (files.isDirty(path)) {
    throw new ClientWorkspaceError("unsaved_changes", `${path} has changes in an editor that are not saved.`, {
      hint: "Ask the user to save or discard them.",
      retryable: true,
    });
  }
  const bytes = found === undefined ? undefined : await files.read(path);
  if ((bytes === undefined ? "" : sha256Hex(bytes)) === baseSha256) return bytes;
  throw new ClientWorkspaceError("stale_file", `Stale File: ${path} is not as it was read. Nothing was written.`, {
    hint: "Read it again.",
    retryable: true,
  });
}

async function write(files: FolderFiles, { path, bytes }: ClientFileChange): Promise<void> {
  if (bytes === undefined) {
    await files.remove(path);
    return;
  }
  await files.write(path, bytes);
  const now = await files.read(path);
  if (sha256Hex(now) === sha256Hex(bytes)) return;
  throw new ClientWorkspaceError("applied_differently", `${path} was not written as asked.`);
}

/** Restores files. Resolves with the names of those that could not be restored. */
async function takeBack(files: FolderFiles, done: readonly Before[]): Promise<readonly string[]> {
  const standing: string[] = [];
  for (const { change, bytes } of [...done].reverse()) {
    try {
      if (bytes !== undefined) await files.write(change.path, bytes);
      else if ((await files.stat(change.path)) !== undefined) await files.remove(change.path);
    } catch {
      standing.push(change.path);
    }
  }
  return standing;
}

/** Missing directories above a path, outermost first. */
async function missingDirectories(files: FolderFiles, path: string): Promise<readonly string[]> {
  const names = path.split("/").slice(0, -1);
  const missing: string[] = [];
  for (const [index] of names.entries()) {
    const directory = names.slice(0, index + 1).join("/");
    if (missing.length > 0 || (await files.stat(directory)) === undefined) missing.push(directory);
  }
  return missing;
}

async function removeIfEmpty(files: FolderFiles, directory: string): Promise<void> {
  if ((await files.stat(directory))?.kind !== "directory") return;
  if ((await files.entries(directory)).length === 0) await files.remove(directory);
}
