import { createHash } from "node:crypto";
import { lstatSync, readlinkSync } from "node:fs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { takeDirectoriesBack } from "@gennai/machine/change-set/directories-back";
import { entryAt } from "@gennai/machine/entries/look-at-entry";
import { systemErrorCode } from "@gennai/machine/system-error";
import { applyChanges } from "@gennai/machine/workspace/apply-changes";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { holdDirectory } from "@gennai/machine/workspace/files/held-directory";
import { readHeldFile } from "@gennai/machine/workspace/files/held-file";
import { splitRelative } from "@gennai/machine/workspace/paths/split-relative";
import { openWorkspaceRoot, type WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { FileState } from "@gennai/store/checkpoints/file-state";
import { maxFileBytes } from "@gennai/store/checkpoints/kept-paths";
import type { Session } from "../session/session.ts";
import type { RestorePlace } from "./write-restore.ts";

/** The directory in which a session's changes are taken back. Throws `WorkspaceError`. */
export function restoreRoot({ services, workspace }: Pick<Session, "services" | "workspace">): WorkspaceRoot {
  return openWorkspaceRoot(workspace.root, { stateDir: services.ownDirectories[0] ?? "", home: services.home });
}

/** Where a restore writes on this machine's disk. */
export function diskPlace({ services }: Pick<Session, "services">, root: WorkspaceRoot): RestorePlace {
  const stateDir = services.ownDirectories[0] ?? "";
  return {
    root: root.path,
    apply: (changes) => applyChanges(root, stateDir, changes, { readOnlyToo: true }),
    takeDirectoriesBack: (changes) => takeDirectoriesBack(root, changes),
  };
}

/** The files that are there now, on this machine's disk or at a client. */
export interface PresentFiles {
  /** Examines one path without following links. A directory counts as nothing. */
  at(path: string): Promise<FileState>;
  /** A file's bytes, or a link's target, if it is still in this state; undefined also if it is larger than what is kept. */
  bytes(path: string, state: FileState): Promise<Uint8Array | undefined>;
}

const absent: FileState = { type: "absent" };
const unknown: FileState = { type: "unknown" };

export function filesIn(root: WorkspaceRoot): PresentFiles {
  return {
    at: (path) => presentFile(root, path),
    bytes: async (path, state) => {
      const bytes = presentBytes(root, path);
      return bytes !== undefined && "sha256" in state && sha256(bytes) === state.sha256 ? bytes : undefined;
    },
  };
}

/** Expected errors are not thrown. */
async function presentFile(root: WorkspaceRoot, path: string): Promise<FileState> {
  const { parents, name } = splitRelative(path);
  try {
    using directory = holdDirectory(root, parents);
    const stat = lstatSync(directory.entry(name));
    if (stat.isDirectory()) return absent;
    if (stat.isSymbolicLink()) {
      return { type: "link", ...digestsOf(readlinkSync(directory.entry(name), { encoding: "buffer" })) };
    }
    if (!stat.isFile()) return unknown;
    if (stat.size > maxFileBytes) {
      const large = await entryAt(directory.entry(name), lstatSync(directory.entry(name), { bigint: true }));
      if (large.type !== "file" || large.sha256 === undefined) return unknown;
      return { type: "file", sha256: large.sha256, mode: large.mode & 0o777 };
    }
    const { bytes, mode } = readHeldFile(directory, name, maxFileBytes);
    return { type: "file", ...digestsOf(bytes), mode: mode & 0o777 };
  } catch (error) {
    const code = systemErrorCode(error);
    // A link is in the place of a directory: what is behind it is elsewhere.
    const isBehindLink = error instanceof ToolFailure && error.code === "path_changed";
    return code === "ENOENT" || code === "ENOTDIR" || isBehindLink ? absent : unknown;
  }
}

function presentBytes(root: WorkspaceRoot, path: string): Uint8Array | undefined {
  const { parents, name } = splitRelative(path);
  try {
    using directory = holdDirectory(root, parents);
    if (lstatSync(directory.entry(name)).isSymbolicLink())
      return readlinkSync(directory.entry(name), { encoding: "buffer" });
    return readHeldFile(directory, name, maxFileBytes).bytes;
  } catch (error) {
    if (error instanceof ToolFailure || systemErrorCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** What blocks a path that needs a directory; undefined if nothing does. */
export async function inTheWayOf(files: PresentFiles, path: string): Promise<string | undefined> {
  const { parents } = splitRelative(path);
  for (let depth = 1; depth <= parents.length; depth += 1) {
    const above = parents.slice(0, depth).join("/");
    if ((await files.at(above)).type !== "absent") return above;
  }
  return undefined;
}

function digestsOf(bytes: Uint8Array): { readonly sha256: string; readonly object: string } {
  const object = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  return { sha256: sha256(bytes), object };
}
