import { createHash } from "node:crypto";
import { lstatSync, readlinkSync } from "node:fs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { entryAt } from "@gennai/machine/stage/files/look-at-entry";
import { systemErrorCode } from "@gennai/machine/system-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { holdDirectory } from "@gennai/machine/workspace/files/held-directory";
import { readHeldFile } from "@gennai/machine/workspace/files/held-file";
import { splitRelative } from "@gennai/machine/workspace/paths/split-relative";
import { openWorkspaceRoot, type WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { FileState } from "@gennai/store/checkpoints/file-state";
import { maxFileBytes } from "@gennai/store/checkpoints/snapshot/kept-paths";
import type { Session } from "../session/session.ts";

/** The directory in which a session's changes are taken back. Throws `WorkspaceError`. */
export function restoreRoot({ services, workspace }: Pick<Session, "services" | "workspace">): WorkspaceRoot {
  return openWorkspaceRoot(workspace.root, { stateDir: services.ownDirectories[0] ?? "", home: services.home });
}

/** What is at a path now. */
export interface PresentFile {
  readonly state: FileState;
  /** A file's content, unless it is larger than what is kept, or a link's target. */
  readonly bytes: Uint8Array | undefined;
}

const absent: PresentFile = { state: { type: "absent" }, bytes: undefined };
const unknown: PresentFile = { state: { type: "unknown" }, bytes: undefined };

/** Examines one path without following links. A directory counts as nothing. Expected errors are not thrown. */
export async function presentFile(root: WorkspaceRoot, path: string): Promise<PresentFile> {
  const { parents, name } = splitRelative(path);
  try {
    using directory = holdDirectory(root, parents);
    const stat = lstatSync(directory.entry(name));
    if (stat.isDirectory()) return absent;
    if (stat.isSymbolicLink()) {
      const bytes = readlinkSync(directory.entry(name), { encoding: "buffer" });
      return { state: { type: "link", ...digestsOf(bytes) }, bytes };
    }
    if (!stat.isFile()) return unknown;
    if (stat.size > maxFileBytes) {
      const large = await entryAt(directory.entry(name), lstatSync(directory.entry(name), { bigint: true }));
      if (large.type !== "file" || large.sha256 === undefined) return unknown;
      return { state: { type: "file", sha256: large.sha256, mode: large.mode & 0o777 }, bytes: undefined };
    }
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
export async function inTheWayOf(root: WorkspaceRoot, path: string): Promise<string | undefined> {
  const { parents } = splitRelative(path);
  for (let depth = 1; depth <= parents.length; depth += 1) {
    const above = parents.slice(0, depth).join("/");
    const { state } = await presentFile(root, above);
    if (state.type !== "absent") return above;
  }
  return undefined;
}

function digestsOf(bytes: Uint8Array): { readonly sha256: string; readonly object: string } {
  const object = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  return { sha256: sha256(bytes), object };
}
