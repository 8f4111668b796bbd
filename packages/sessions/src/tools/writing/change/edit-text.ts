import { ToolFailure } from "@gennai/governance/tool-error";
import { followEdits, type LineSpan } from "@gennai/machine/changes/changed-blocks";
import { changedText, editableText, plainLineFeeds } from "@gennai/machine/changes/editable-text";
import { ComparingTime } from "@gennai/machine/changes/fit/comparing-time";
import { type FittedReplacement, replaceText } from "@gennai/machine/changes/replace-text";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { maxFileBytes } from "../../text-limits.ts";
import type { IntendedFile } from "./file-change.ts";

export const editFields = {
  old_string: z
    .string()
    .min(1, "old_string must not be empty; use Write to make a file.")
    .max(maxFileBytes, "old_string is larger than 20 MiB."),
  new_string: z.string().max(maxFileBytes, "new_string is larger than 20 MiB."),
  replace_all: z.boolean().optional(),
};

/** Argument names in other agents' tools. */
export const editNames = {
  old_str: "old_string",
  new_str: "new_string",
  oldString: "old_string",
  newString: "new_string",
  old_text: "old_string",
  new_text: "new_string",
  oldText: "old_string",
  newText: "new_string",
  replaceAll: "replace_all",
  insert_text: "new_string",
  replacement_text: "new_string",
} as const;

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** One of several edits, with the file's own text. */
export interface FittedEdit extends FittedReplacement {
  /** Index among the edits, from 0. */
  readonly index: number;
}

/** The edits, with the fitted ones as applied. */
export function fittedEdits<Edit extends TextEdit>(edits: readonly Edit[], fitted: readonly FittedEdit[]): Edit[] {
  return edits.map((edit, at) => {
    const fit = fitted.find(({ index }) => index === at);
    return fit === undefined ? edit : { ...edit, old_string: fit.oldText, new_string: fit.newText };
  });
}

export const sameStrings = "old_string and new_string are the same, so nothing would change.";

export function changesSomething(edit: TextEdit): boolean {
  return edit.old_string !== edit.new_string;
}

/** Maximum characters of a file searched, over all edits, for inexact matches. */
const mostLookedThrough = 8 * 1024 * 1024;

type EditedFile = IntendedFile & { readonly type: "text" };

/**
 * Applies edits one after the other, each to the result of the one before. Throws `binary_file`, `no_match`, `ambiguous_match`.
 */
export function editText(before: FileContent, edits: readonly TextEdit[], name: string): EditedFile {
  const start = editableText(before.bytes);
  if (start === undefined) throw new ToolFailure("binary_file", `${name} is not a text file, so it cannot be edited.`);
  let current = start;
  let spans: readonly LineSpan[] = [];
  const fitted: FittedEdit[] = [];
  let lookedThrough = 0;
  const time = new ComparingTime();
  for (const [index, edit] of edits.entries()) {
    const where = edits.length === 1 ? name : `${name} (edits[${index}])`;
    const replaced = replaceText(
      current.text,
      {
        oldText: plainLineFeeds(edit.old_string),
        newText: plainLineFeeds(edit.new_string),
        replaceAll: edit.replace_all === true,
      },
      where,
      { exactly: lookedThrough > mostLookedThrough, time },
    );
    if (replaced.fitted !== undefined) lookedThrough += current.text.length;
    current = changedText(current, replaced.text, replaced.edits);
    spans = followEdits(spans, replaced.edits);
    if (replaced.fitted !== undefined) fitted.push({ ...replaced.fitted, index });
  }
  return { type: "text", text: current, spans, ...(fitted.length === 0 ? {} : { fitted }) };
}
