import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editableText } from "@gennai/machine/changes/editable-text";
import { editNotebook, type NotebookEdit } from "@gennai/machine/formats/edit-notebook";
import { hasNumberedCells, type Notebook, parseNotebook } from "@gennai/machine/formats/notebook";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { unknownCell } from "../reading/notebook-outcome.ts";
import { maxFileBytes } from "../text-limits.ts";
import type { FileChangePorts, IntendedFile } from "./change/file-change.ts";
import { oneFileTool } from "./one-file-tool.ts";
import { intendedText } from "./write-tool.ts";

const parameters = z
  .strictObject({
    file_path: z.string().min(1, "file_path must not be empty.").describe("Path of the notebook (.ipynb)."),
    edit_mode: z.enum(["replace", "insert", "delete"]).optional().describe("`replace` by default."),
    cell_id: z
      .string()
      .min(1, "cell_id must not be empty.")
      .max(200)
      .optional()
      .describe("The cell, as Read names it; for `insert` the one in front, left out for the beginning."),
    new_source: z.string().max(maxFileBytes).optional().describe("All of the cell's new text."),
    cell_type: z.enum(["code", "markdown", "raw"]).optional().describe("Left out: as it is; `code` for a new one."),
  })
  .refine(({ edit_mode: mode, cell_id: cell }) => mode === "insert" || cell !== undefined, {
    error: "cell_id says which cell; Read shows the names.",
    path: ["cell_id"],
  })
  .refine(({ edit_mode: mode, new_source: source }) => mode === "delete" || source !== undefined, {
    error: "new_source is the cell's new text.",
    path: ["new_source"],
  });

type EditArguments = z.infer<typeof parameters>;

/** Edits one cell of a notebook; the rest of the file stays as it is, byte for byte. */
export function notebookEditTool(ports: FileChangePorts): BuiltInTool<EditArguments> {
  return oneFileTool(ports, {
    name: "NotebookEdit",
    description: "Replaces, inserts or deletes one cell of a Jupyter notebook. Read the notebook first.",
    parameters,
    otherNames: {
      notebook_path: "file_path",
      notebookPath: "file_path",
      cellId: "cell_id",
      cell: "cell_id",
      source: "new_source",
      content: "new_source",
      mode: "edit_mode",
    },
    operation: "update",
    missingHint: "Use Write to make a new notebook.",
    intend: (args, before, name) => (before === undefined ? { type: "gone" } : intendedNotebook(args, before, name)),
  });
}

function intendedNotebook(args: EditArguments, before: FileContent, name: string): IntendedFile {
  const text = editableText(before.bytes)?.text ?? "";
  const parsed = parseNotebook(text);
  if ("problem" in parsed)
    throw new ToolFailure("bad_notebook", `${name} cannot be edited as a notebook: ${parsed.problem}`);
  const edit = editOf(args);
  const edited = editNotebook(text, parsed.notebook, edit);
  if (edited === undefined) throw unknownCell(name, args.cell_id ?? "");
  const intended = intendedText(edited, before.bytes);
  if (edit.type === "replace" || !isNumbered(parsed.notebook, edited)) return intended;
  // The next edit would refer to a cell by its former number.
  return { ...intended, readAgain: true, note: `Cells without an id have other names now: read ${name} again.` };
}

function isNumbered(before: Notebook, edited: string): boolean {
  const after = parseNotebook(edited);
  return hasNumberedCells(before) || "problem" in after || hasNumberedCells(after.notebook);
}

function editOf({ edit_mode, cell_id, new_source = "", cell_type }: EditArguments): NotebookEdit {
  switch (edit_mode) {
    case "insert":
      return { type: "insert", after: cell_id, source: new_source, cellType: cell_type ?? "code" };
    case "delete":
      return { type: "delete", cell: cell_id ?? "" };
    default:
      return { type: "replace", cell: cell_id ?? "", source: new_source, cellType: cell_type };
  }
}
