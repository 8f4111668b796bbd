import { createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { giveWay } from "@gennai/machine/entries/give-way";
import { MergedView } from "@gennai/machine/entries/merged-view";
import { hasCode, systemErrorCode } from "@gennai/machine/system-error";
import type { StagedTree } from "./staged-tree.ts";

/**
 * Makes a stage show what is proposed, as a command would have left it. Follows no link: by now, a link may be on the path to a
 * staged file. Throws `ToolFailure` in that case, since a file that is left out would count as taken back.
 *
 * @param merged path of the stage's view of the workspace
 */
export async function layStagedTree(tree: StagedTree, merged: string): Promise<void> {
  const view = new MergedView(merged);
  const files = [...tree.files.values()];
  const removed = files.filter(({ staged }) => staged === null).map(({ path }) => path);
  for (const path of removed) {
    await giveWay();
    ifPresent(() => view.isDirectory(path) || view.remove(path));
  }
  for (const path of removed) removeEmptied(view, dirname(path));
  for (const { path, staged, at } of files) {
    if (staged === null) continue;
    await giveWay();
    try {
      const takesPlace = removed.some((one) => one.startsWith(`${path}/`));
      if (!takesPlace && ifPresent(() => view.isDirectory(path)) === true) throw blocked(path, "a directory is there");
      await view.write(path, createReadStream(join(tree.view, path)), { mode: staged.mode, mtime: at / 1000 });
    } catch (error) {
      const isBlocked = ["ENOTDIR", "ELOOP", "path_changed"].some((code) => hasCode(error, code));
      if (isBlocked) throw blocked(path, "a link or a file is on the way");
      throw error;
    }
  }
}

function blocked(path: string, why: string): ToolFailure {
  return new ToolFailure("stale_file", `${path} is staged, and cannot be where it belongs any more: ${why}.`, {
    hint: "The user changed that meanwhile. Tell the user, who can refuse the file in the review.",
  });
}

/** As in git, a directory exists only as long as something is in it. */
function removeEmptied(view: MergedView, directory: string): void {
  for (let at = directory; at !== "."; at = dirname(at)) {
    const names = ifPresent(() => (view.isDirectory(at) ? view.names(at) : undefined));
    if (names !== undefined && names.length > 0) return;
    if (names !== undefined) view.remove(at);
  }
}

/** undefined if nothing is there, or if a parent is not a directory. */
function ifPresent<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
}
