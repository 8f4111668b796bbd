import type { ArgumentsForm } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editableText, plainLineFeeds } from "@gennai/machine/changes/editable-text";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import { z } from "zod";
import { editFields, type TextEdit } from "./edit-text.ts";

const lines = z.strictObject({
  file_path: z.string().min(1, "file_path must not be empty."),
  new_string: editFields.new_string,
});

/** Anthropic's text editor tool: inserts new lines after the line with this number; 0 is the beginning. */
const insertion = lines.extend({ insert_line: z.int().min(0, "insert_line counts lines from 1; 0 is the beginning.") });

/** SWE-agent's `edit START:END`: from 1, both inclusive. */
const replacement = lines
  .extend({ start_line: z.int().min(1, "start_line counts lines from 1."), end_line: z.int() })
  .refine(({ start_line: start, end_line: end }) => end >= start, {
    error: "end_line is in front of start_line.",
    path: ["end_line"],
  });

/** An edit of lines by their numbers. */
export type LineEditArguments = z.infer<typeof insertion> | z.infer<typeof replacement>;

export const lineForms: readonly ArgumentsForm<LineEditArguments>[] = [
  { mark: "insert_line", parameters: insertion },
  { mark: "start_line", parameters: replacement },
  { mark: "end_line", parameters: replacement },
];

/**
 * The edit as text: the lines it refers to, with enough lines around them to be unique. New text consists of whole lines, so a
 * line end is added if it has none and the file continues. Throws `binary_file`, `past_end`.
 */
export function editOfLines(args: LineEditArguments, before: FileContent, name: string): TextEdit {
  const text = editableText(before.bytes)?.text;
  if (text === undefined) throw new ToolFailure("binary_file", `${name} is not a text file, so it cannot be edited.`);
  const all = splitLines(text);
  const [from, to] =
    "insert_line" in args ? [args.insert_line, args.insert_line] : [args.start_line - 1, args.end_line];
  if (all.length === 0) {
    throw new ToolFailure("past_end", `${name} is empty; nothing was changed.`, { hint: "Write its text with Write." });
  }
  if (to > all.length) {
    throw new ToolFailure("past_end", `${name} has no line ${to}, its last is ${all.length}; nothing was changed.`, {
      hint: "Read it, and use the numbers that it shows.",
    });
  }
  const put = newLines(plainLineFeeds(args.new_string), {
    behind: all[from - 1],
    goesOn: to < all.length || text.endsWith("\n"),
  });
  for (let around = from === to ? 1 : 0; ; around = Math.max(1, around * 2)) {
    const [first, last] = [Math.max(0, from - around), Math.min(all.length, to + around)];
    const found = all.slice(first, last).join("");
    if (last - first < all.length && !standsOnce(text, found)) continue;
    const [head, tail] = [all.slice(first, from).join(""), all.slice(to, last).join("")];
    return { old_string: found, new_string: head + put + tail };
  }
}

/** @param place.behind the line before it @param place.goesOn whether the inserted text ends a line */
function newLines(text: string, { behind, goesOn }: { readonly behind: string | undefined; readonly goesOn: boolean }) {
  if (text === "") return text;
  if (behind !== undefined && !behind.endsWith("\n")) return `\n${text}`;
  return goesOn && !text.endsWith("\n") ? `${text}\n` : text;
}

function standsOnce(text: string, part: string): boolean {
  const first = text.indexOf(part);
  return text.indexOf(part, first + 1) === -1;
}
