import type { WorkspacePath } from "@gennai/governance/effect";
import { editableText } from "@gennai/machine/changes/editable-text";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { PlanAction } from "@gennai/protocol/plan-schema";
import { currentContent } from "../../tools/writing/change/file-change.ts";
import { type PatchResult, patchText } from "./patch-text.ts";

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
