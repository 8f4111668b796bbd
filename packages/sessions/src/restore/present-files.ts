import { createHash } from "node:crypto";
import { chmodSync, lstatSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { systemErrorCode } from "@gennai/machine/system-error";
import { removeFile } from "@gennai/machine/workspace/change/place-file";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { fileFailure } from "@gennai/machine/workspace/files/file-failure";
import { holdDirectory } from "@gennai/machine/workspace/files/held-directory";
import { readHeldFile, temporaryName } from "@gennai/machine/workspace/files/held-file";
import { splitRelative } from "@gennai/machine/workspace/paths/split-relative";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { FileState } from "@gennai/store/checkpoints/file-state";
import { maxFileBytes } from "@gennai/store/checkpoints/snapshot/kept-paths";

/** What is at a path now. */
export interface PresentFile {
  readonly state: FileState;
  /** A file's content, or a link's target. */
  readonly bytes: Uint8Array | undefined;
}

const absent: PresentFile = { state: { type: "absent" }, bytes: undefined };
const unknown: PresentFile = { state: { type: "unknown" }, bytes: undefined };

/** Examines one path without following links. A directory counts as nothing. Expected errors are not thrown. */
export function presentFile(root: WorkspaceRoot, path: string): PresentFile {
  const { parents, name } = splitRelative(path);
  try {
    using directory = holdDirectory(root, parents);
    const stat = lstatSync(directory.entry(name));
    if (stat.isDirectory()) return absent;
    if (stat.isSymbolicLink()) {
      const bytes = readlinkSync(directory.entry(name), { encoding: "buffer" });
      return { state: { type: "link", ...digestsOf(bytes) }, bytes };
    }
    if (!stat.isFile() || stat.size > maxFileBytes) return unknown;
    const { bytes, mode } = readHeldFile(directory, name, maxFileBytes);
    return { state: { type: "file", ...digestsOf(bytes), mode: mode & 0o777 }, bytes };
  } catch (error) {
    const code = systemErrorCode(error);
    // A link is in the place of a directory: what is behind it is elsewhere.
    const isBehindLink = error instanceof ToolFailure && error.code === "path_changed";
    return code === "ENOENT" || code === "ENOTDIR" || isBehindLink ? absent : unknown;
  }
}

/** What blocks a path that needs a directory; undefined if nothing does. */
export function inTheWayOf(root: WorkspaceRoot, path: string): string | undefined {
  const { parents } = splitRelative(path);
  for (let depth = 1; depth <= parents.length; depth += 1) {
    const above = parents.slice(0, depth).join("/");
    const { state } = presentFile(root, above);
    if (state.type !== "absent") return above;
  }
  return undefined;
}

/** Removes a link with the expected target; false if something else is there. */
export function removeLink(root: WorkspaceRoot, path: string, expected: Uint8Array): boolean {
  const { parents, name } = splitRelative(path);
  try {
    using directory = holdDirectory(root, parents);
    if (!readlinkSync(directory.entry(name), { encoding: "buffer" }).equals(expected)) return false;
    unlinkSync(directory.entry(name));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "EINVAL") return false;
    throw fileFailure(error, "delete", path);
  }
}

/** Creates a link if the path is free; false otherwise. */
export function placeLink(root: WorkspaceRoot, path: string, target: Uint8Array): boolean {
  const { parents, name } = splitRelative(path);
  try {
    using directory = holdDirectory(root, parents, { create: true });
    const temporary = temporaryName();
    symlinkSync(Buffer.from(target), directory.entry(temporary));
    if (lstatSync(directory.entry(name), { throwIfNoEntry: false }) !== undefined) {
      removeFile(directory, temporary);
      return false;
    }
    renameSync(directory.entry(temporary), directory.entry(name));
    return true;
  } catch (error) {
    throw fileFailure(error, "create", path);
  }
}

/** A file that was made read-only meanwhile is still replaced: the user asked for it. */
export function makeWritable(root: WorkspaceRoot, path: string): void {
  const { parents, name } = splitRelative(path);
  using directory = holdDirectory(root, parents);
  const stat = lstatSync(directory.entry(name));
  if (stat.isFile() && (stat.mode & 0o200) === 0) chmodSync(directory.entry(name), (stat.mode & 0o777) | 0o200);
}

function digestsOf(bytes: Uint8Array): { readonly sha256: string; readonly object: string } {
  const object = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  return { sha256: sha256(bytes), object };
}
