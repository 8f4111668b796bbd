import { ToolFailure } from "@gennai/governance/tool-error";
import { followEdits, type LineSpan } from "@gennai/machine/changes/changed-blocks";
import { changedText, editableText, plainLineFeeds } from "@gennai/machine/changes/editable-text";
import { replaceText } from "@gennai/machine/changes/replace-text";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { maxFileBytes } from "../text-limits.ts";
import type { IntendedFile } from "./file-change.ts";

export const editFields = {
  old_string: z
    .string()
    .min(1, "old_string must not be empty; use Write to make a file.")
    .max(maxFileBytes, "old_string is larger than 20 MiB.")
    .describe("The exact text to replace; it must stand at exactly one place."),
  new_string: z.string().max(maxFileBytes, "new_string is larger than 20 MiB.").describe("The text to put there."),
  replace_all: z.boolean().optional().describe("Replaces every place."),
};

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

export const sameStrings = "old_string and new_string are the same, so nothing would change.";

export function changesSomething(edit: TextEdit): boolean {
  return edit.old_string !== edit.new_string;
}

/** Edits one after the other, each on the text the one before left. Throws `binary_file`, `no_match`, `ambiguous_match`. */
export function editText(before: FileContent, edits: readonly TextEdit[], name: string): IntendedFile {
  const start = editableText(before.bytes);
  if (start === undefined) throw new ToolFailure("binary_file", `${name} is not a text file, so it cannot be edited.`);
  let current = start;
  let spans: readonly LineSpan[] = [];
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
    );
    current = changedText(current, replaced.text, replaced.edits);
    spans = followEdits(spans, replaced.edits);
  }
  return { type: "text", text: current, spans };
}
