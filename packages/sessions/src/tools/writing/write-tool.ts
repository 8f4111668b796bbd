import type { BuiltInTool } from "@gennai/governance/tool";
import { editableText, withPlainLineFeeds } from "@gennai/machine/changes/editable-text";
import { endOfLine } from "@gennai/machine/workspace/files/text-file";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { countLines } from "@gennai/protocol/diff/line-edit";
import { z } from "zod";
import { maxFileBytes } from "../text-limits.ts";
import { type FileChangePorts, type IntendedText, intendedEdits } from "./change/file-change.ts";
import { oneFileTool } from "./one-file-tool.ts";

const parameters = z.strictObject({
  file_path: z.string().min(1, "file_path must not be empty."),
  content: z.string().max(maxFileBytes, "content is larger than 20 MiB."),
});

/**
 * Writes a whole file. An existing file keeps its byte order mark and, unless the content itself has CRLF, its line ends; a new
 * file gets exactly the content.
 */
export function writeTool(ports: FileChangePorts): BuiltInTool<z.infer<typeof parameters>> {
  return oneFileTool(ports, {
    name: "Write",
    description: "Writes a whole text file: creates it, or replaces all of it. Read an existing file first.",
    parameters,
    otherNames: { contents: "content", text: "content", file_text: "content" },
    operation: "update",
    missingHint: undefined,
    intend: ({ content }, before) => intendedText(content, before?.bytes),
  });
}

/** The file's new text. @param before undefined for a new file */
export function intendedText(content: string, before: Uint8Array | undefined): IntendedText {
  const byteOrderMark = "\uFEFF";
  const bom = content.startsWith(byteOrderMark);
  const text = bom ? content.slice(byteOrderMark.length) : content;
  const exact = withPlainLineFeeds({ text, bom, eol: endOfLine(text) });
  const old = before === undefined ? undefined : editableText(before);
  if (old === undefined) return { type: "text", text: exact, spans: [{ start: 1, count: countLines(exact.text) }] };
  const kept = intendedEdits(old, exact.text, diffLines(old.text, exact.text, { timeoutMs: 100 }).edits);
  const endings = text.includes("\r\n") ? exact.endings : kept.text.endings;
  return { ...kept, text: { text: exact.text, bom: bom || old.bom, endings } };
}
