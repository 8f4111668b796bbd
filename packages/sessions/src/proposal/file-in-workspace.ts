import type { Workspace } from "@gennai/machine/workspace/workspace";
import { maxStagedBytes } from "@gennai/shell/proposal/staged-file";
import type { FileBytes } from "@gennai/shell/proposal/staged-tree";

/**
 * The workspace's content at a path; undefined if there is no file. "unreadable" is different: otherwise a file that is staged
 * for deletion would count as deleted. Never rejects.
 */
export async function fileInWorkspace(
  workspace: Workspace,
  path: string,
): Promise<FileBytes | "unreadable" | undefined> {
  try {
    const resolved = await workspace.resolve(path, { isRecorded: true });
    // A link that was put on the way leads to another file.
    if (!resolved.inside || resolved.relative !== path) return "unreadable";
    const stat = await workspace.stat(resolved);
    if (stat === undefined) return undefined;
    if (stat.kind !== "file") return "unreadable";
    const { bytes } = await workspace.read(resolved, { maxBytes: maxStagedBytes });
    return { bytes, mode: stat.mode & 0o777 };
  } catch {
    return "unreadable";
  }
}
