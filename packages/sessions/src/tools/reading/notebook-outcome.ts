import type { ShownImage, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { judgeImage } from "@gennai/machine/formats/fit-image";
import { cellNames, type Notebook, type NotebookOutput } from "@gennai/machine/formats/notebook";
import { plainText } from "@gennai/machine/process/plain-text";
import { numberedLines } from "./numbered-lines.ts";

/** Maximum characters of one output, when reading all cells and when reading one; maximum images of one result. */
const most = { ofMany: 2_000, ofOne: 20_000, images: 8 } as const;

/** Requested cells: one by name, or a range by number. */
export interface NotebookPart {
  readonly cellId: string | undefined;
  /** From 1. */
  readonly offset: number;
  readonly limit: number;
}

/** Cells of a notebook with their outputs. Throws `ToolFailure` for missing cells. */
export function notebookOutcome(name: string, notebook: Notebook, part: NotebookPart): ToolOutcome {
  const names = cellNames(notebook);
  const chosen = chosenCells(name, names, part);
  const show = new Shown(part.cellId === undefined ? most.ofMany : most.ofOne);
  const cells = chosen.map((index) => show.cell(notebook, names, index));
  const last = chosen.at(-1) ?? -1;
  const isPart = part.cellId === undefined && chosen.length < names.length;
  const readOn = last + 1 < names.length ? `; read on with offset ${last + 2}` : "";
  return {
    output: [
      ...(cells.length === 0 ? ["[a notebook without cells]"] : cells),
      ...(isPart ? [`[cells ${part.offset}-${last + 1} of ${names.length}${readOn}]`] : []),
    ].join("\n"),
    truncated: isPart || show.cut,
    images: show.images,
  };
}

function chosenCells(
  name: string,
  names: readonly string[],
  { cellId, offset, limit }: NotebookPart,
): readonly number[] {
  const all = [...names.keys()];
  if (cellId === undefined) {
    const part = all.slice(offset - 1, offset - 1 + limit);
    if (part.length > 0 || offset === 1) return part;
    throw new ToolFailure("past_end", `${name} has ${names.length} cells.`, { hint: "Read it with a smaller offset." });
  }
  const index = names.indexOf(cellId);
  if (index === -1) throw unknownCell(name, cellId);
  return [index];
}

export function unknownCell(name: string, cellId: string): ToolFailure {
  return new ToolFailure("unknown_cell", `${name} has no cell ${JSON.stringify(cellId)}.`, {
    hint: "Read the notebook: each cell begins with its name.",
  });
}

/** Source lines have numbers and output lines a mark, so that no cell can imitate the next one. */
class Shown {
  readonly images: ShownImage[] = [];
  cut = false;
  readonly #mostOfOutput: number;

  constructor(mostOfOutput: number) {
    this.#mostOfOutput = mostOfOutput;
  }

  cell(notebook: Notebook, names: readonly string[], index: number): string {
    const cell = notebook.cells[index];
    if (cell === undefined) return "";
    const { text, truncated } = numberedLines({ content: `${cell.source}\n`, firstLine: 1, totalLines: 0 });
    if (truncated) this.cut = true;
    const source = cell.source === "" ? "[empty]" : text;
    const title = `[cell ${JSON.stringify(names[index])}, ${plainWord(cell.cell_type)}]`;
    return [title, source, ...(cell.outputs ?? []).map((output) => this.#output(output))].join("\n");
  }

  #output(output: NotebookOutput): string {
    const { output_type: type, data = {} } = output;
    const shown = Object.entries(data).flatMap(([mediaType, value]) =>
      mediaType.startsWith("image/") && mediaType !== "image/svg+xml" ? [this.#image(textOf(value))] : [],
    );
    const text =
      type === "error"
        ? [`${output.ename ?? ""}: ${output.evalue ?? ""}`, ...(output.traceback ?? [])].join("\n")
        : (output.text ?? textOf(data["text/plain"] ?? data["text/markdown"] ?? data["text/html"] ?? ""));
    const title = `[output: ${plainWord(output.name ?? type)}${shown.length === 0 ? "" : `, ${shown.join(", ")}`}]`;
    return text === "" ? title : `${title}\n${this.#marked(plainText(text))}`;
  }

  #image(base64: string): string {
    const verdict = judgeImage(Buffer.from(base64, "base64"));
    if (verdict.type !== "image") return verdict.type === "unfit" ? `image not shown: ${verdict.problem}` : "no image";
    if (this.images.length === most.images) return `image not shown: at most ${most.images} are; read its cell alone`;
    this.images.push(verdict.image);
    return `image ${this.images.length}: ${verdict.image.description}`;
  }

  #marked(text: string): string {
    const shown = text.length > this.#mostOfOutput ? text.slice(0, this.#mostOfOutput).toWellFormed() : text;
    const marked = shown.replace(/\n$/, "").replaceAll(/^/gm, "│ ");
    if (shown === text) return marked;
    this.cut = true;
    return `${marked}\n[cut: ${text.length - shown.length} more characters; read the cell alone for more]`;
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === "string").join("") : JSON.stringify(value);
}

/** A name from the file, if it is a plain word. */
function plainWord(word: string): string {
  return /^[\w.-]{1,40}$/.test(word) ? word : "of another kind";
}
