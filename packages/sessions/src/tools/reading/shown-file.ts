import type { ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { parseNotebook } from "@gennai/machine/formats/notebook";
import { decodeText } from "@gennai/machine/workspace/files/text-file";
import { imageOutcome } from "./image-outcome.ts";
import { notebookOutcome } from "./notebook-outcome.ts";

/** The requested part of a file, besides its lines. */
export interface WantedPart {
  /** Lines or cells, from 1. */
  readonly offset: number;
  readonly limit: number;
  readonly cell_id?: string | undefined;
}

/** Names of files for which editors have no text. The real type is decided by the bytes. */
const noText = /\.(?:png|jpe?g|gif|webp|ipynb)$/i;

export function isShownFromDisk(path: string): boolean {
  return noText.test(path);
}

/** The result for a file that is not just text lines; undefined otherwise. Throws `ToolFailure` if it cannot be shown. */
export function shownFile(name: string, bytes: Uint8Array, wanted: WantedPart): ToolOutcome | undefined {
  return imageOutcome(name, bytes) ?? shownNotebook(name, bytes, wanted);
}

/** A notebook that cannot be parsed is shown as text. */
function shownNotebook(name: string, bytes: Uint8Array, { offset, limit, cell_id: cellId }: WantedPart) {
  const text = name.toLowerCase().endsWith(".ipynb") ? decodeText(bytes)?.text : undefined;
  const parsed = text === undefined ? { problem: "it is no .ipynb file of text" } : parseNotebook(text);
  if ("notebook" in parsed) return notebookOutcome(name, parsed.notebook, { cellId, offset, limit });
  if (cellId === undefined) return undefined;
  throw new ToolFailure("bad_notebook", `${name} has no cells: ${parsed.problem}.`, { hint: "Leave cell_id out." });
}
