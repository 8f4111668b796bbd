import type { FileWrite } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editableText } from "@gennai/machine/changes/editable-text";
import { withoutKeyLines } from "@gennai/machine/redaction/private-key";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { threeWayDiff } from "@gennai/protocol/diff/three-way-diff";
import { bufferContent } from "./editor-change.ts";
import { currentContent, type FileChangePorts, type IntendedFile } from "./file-change.ts";

const maxLines = 160;
const maxLineLength = 400;

/**
 * For a model whose change was refused because the file has changed since it was read: compares what it read, what is there now
 * and what it wanted. Undefined if there is nothing to compare.
 * @param intend applies the change to the text that was read; may throw `ToolFailure`
 */
export async function staleFileDetail(
  ports: FileChangePorts,
  write: FileWrite,
  intend: (base: FileContent) => IntendedFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { base, path } = write;
  if (base === undefined) return undefined;
  const inEditor = base.source === "buffer" && ports.editor.can("file-read");
  const now = inEditor
    ? await bufferContent(ports.editor, path, signal)
    : await currentContent(ports.workspace, path, signal);
  const theirs = now === undefined ? undefined : editableText(now.bytes)?.text;
  if (theirs === undefined || now?.sha256 === base.sha256) return undefined;
  const bytes = await ports.seen?.get(base.sha256);
  const read = bytes === undefined ? undefined : editableText(bytes)?.text;
  if (bytes === undefined || read === undefined) {
    return "The text you read is not kept any more, so it cannot be compared with what is there now. Read the file again.";
  }
  const mine = wanted({ bytes, sha256: base.sha256 }, intend) ?? read;
  // Masking recognises a private key by its beginning, but a hunk may show only its middle.
  const diff = withoutKeyLines(threeWayDiff({ base: read, mine, theirs }, { maxLines }), [read, mine, theirs]);
  if (diff === "") return undefined;
  const lines = diff
    .split("\n")
    .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line));
  return `What you read, what is there now, and what you wanted, compared. Nothing was written.\n${lines.join("\n")}`;
}

/** Undefined for a change without a text: then only the other changes are shown. */
function wanted(base: FileContent, intend: (base: FileContent) => IntendedFile): string | undefined {
  try {
    const intended = intend(base);
    return intended.type === "text" ? intended.text.text : undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}
