import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";

/** Text in a notebook: one string, or its lines. */
const multiline = z
  .union([z.string(), z.array(z.string())])
  .transform((text) => (Array.isArray(text) ? text.join("") : text));

const output = z.looseObject({
  output_type: z.string(),
  name: z.string().optional(),
  text: multiline.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  traceback: z.array(z.string()).optional(),
});

const notebookSchema = z.looseObject({
  nbformat: z.literal(4),
  nbformat_minor: z.int().min(0),
  cells: z.array(
    z.looseObject({
      id: z.string().optional(),
      cell_type: z.string(),
      source: multiline,
      outputs: z.array(output).optional(),
    }),
  ),
});

/** A notebook of nbformat 4, which Jupyter writes since 2015. */
export type Notebook = z.infer<typeof notebookSchema>;
export type NotebookOutput = z.infer<typeof output>;

/** A notebook, or why the text is not one. */
export function parseNotebook(text: string): { readonly notebook: Notebook } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `it is not JSON: ${errorMessage(error)}` };
  }
  const parsed = notebookSchema.safeParse(value);
  if (parsed.success) return { notebook: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: `it is not a notebook of nbformat 4: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}` };
}

/**
 * The names of the cells: a cell's own id if no other has the same, else its number from 1, as `cell-3`. No two have the same
 * name: a number that is some cell's id becomes `cell-3-by-number`.
 */
export function cellNames({ cells }: Notebook): readonly string[] {
  const times = timesOfIds(cells);
  return cells.map(({ id }, index) => {
    if (id !== undefined && isOwnName(id, times)) return id;
    let name = `cell-${index + 1}`;
    while (times.has(name)) name += "-by-number";
    return name;
  });
}

/** True if some cell is named by its number, which changes when a cell before it is added or removed. */
export function hasNumberedCells({ cells }: Notebook): boolean {
  const times = timesOfIds(cells);
  return cells.some(({ id }) => id === undefined || !isOwnName(id, times));
}

function isOwnName(id: string, times: ReadonlyMap<string, number>): boolean {
  return id !== "" && times.get(id) === 1;
}

function timesOfIds(cells: Notebook["cells"]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { id } of cells) if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}
