import type { ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { judgeImage } from "@gennai/machine/formats/fit-image";
import { parseNotebook } from "@gennai/machine/formats/notebook";
import { decodeText } from "@gennai/machine/workspace/files/text-file";
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

/** An image as a result; undefined if the bytes are no image. Throws `ToolFailure` for a format that models do not accept. */
function imageOutcome(name: string, bytes: Uint8Array): ToolOutcome | undefined {
  const verdict = judgeImage(bytes);
  switch (verdict.type) {
    case "no-image":
      return undefined;
    case "unfit":
      throw new ToolFailure("unfit_image", `${name} cannot be shown. ${verdict.problem}`, {
        hint: "Where there is a program for it (magick, sips, ffmpeg), make a smaller copy with Bash and Read that.",
      });
    case "image":
      return { output: `[image ${name}: ${verdict.image.description}]`, images: [verdict.image] };
  }
}
