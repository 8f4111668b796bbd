import type { WorkspacePath } from "@gennai/governance/effect";
import { editableText } from "@gennai/machine/changes/editable-text";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { errorMessage } from "@gennai/protocol/error-message";
import type { PlanAction } from "@gennai/protocol/plan-schema";
import { applyPatch, parsePatch, type StructuredPatch } from "diff";
import { currentContent } from "../tools/writing/change/file-change.ts";

/** A file as an action of a plan finds it. */
export type FileNow =
  | { readonly type: "missing" }
  /** Lines end with LF. */
  | { readonly type: "text"; readonly text: string; readonly sha256: string }
  | { readonly type: "binary"; readonly sha256: string };

export type FileAction = Extract<PlanAction, { readonly path: string }>;

/** Throws `ToolFailure` if it is no regular file, or too large. */
export async function readFileNow(workspace: Workspace, path: WorkspacePath, signal: AbortSignal): Promise<FileNow> {
  const content = await currentContent(workspace, path, signal);
  if (content === undefined) return { type: "missing" };
  const text = editableText(content.bytes)?.text;
  return text === undefined
    ? { type: "binary", sha256: content.sha256 }
    : { type: "text", text, sha256: content.sha256 };
}

/** The file's new content after the action. */
export function textAfter(action: FileAction, now: FileNow): PatchResult {
  if (now.type === "binary") return { type: "conflict", reason: `${action.path} is a binary file.` };
  if (action.type === "file_write") return { type: "text", text: action.content };
  return patchText(now.type === "missing" ? undefined : now.text, action.patch, action.path);
}

export function shaOf(now: FileNow): string | undefined {
  return now.type === "missing" ? undefined : now.sha256;
}

type PatchResult =
  | { readonly type: "text"; readonly text: string }
  /** The patch does not fit, in one sentence. */
  | { readonly type: "conflict"; readonly reason: string };

/**
 * Applies a unified diff to this one file. Context must match exactly.
 * @param old undefined if there is no file; then only a patch from `/dev/null` fits
 * @param path relative to the workspace; must match the patch's headers, if they name a file
 */
export function patchText(old: string | undefined, patch: string, path: string): PatchResult {
  let files: StructuredPatch[];
  try {
    files = parsePatch(patch);
  } catch (error) {
    return conflict(`The patch is not a unified diff: ${errorMessage(error)}.`);
  }
  const [file, ...others] = files;
  if (file === undefined || others.length > 0) return conflict("The patch must be for exactly one file.");
  if (file.hunks.length === 0) return conflict("The patch holds no hunk.");
  for (const name of [file.oldFileName, file.newFileName]) {
    if (name === undefined || name === "/dev/null" || name === "") continue;
    if (name !== path && name.replace(/^[ab]\//, "") !== path.replace(/^\.\//, "")) {
      return conflict(`The patch is for ${JSON.stringify(name)}, not for ${JSON.stringify(path)}.`);
    }
  }
  if (file.newFileName === "/dev/null") return conflict("A patch cannot delete its file here: use a command.");
  const creates = file.oldFileName === "/dev/null";
  if (old === undefined && !creates) return conflict(`There is no file ${path} that the patch could change.`);
  if (old !== undefined && creates) return conflict(`The patch creates ${path}, which exists.`);
  const text = applyPatch(old ?? "", file, { fuzzFactor: 0, autoConvertLineEndings: true });
  return text === false ? conflict(`The patch does not fit the present text of ${path}.`) : { type: "text", text };
}

function conflict(reason: string): PatchResult {
  return { type: "conflict", reason };
}
