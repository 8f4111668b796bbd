import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import { editOfLines, type LineEditArguments, lineForms } from "./change/edit-by-line.ts";
import { changesSomething, editFields, editNames, editText, fittedEdits, sameStrings } from "./change/edit-text.ts";
import type { FileChangePorts, IntendedFile } from "./change/file-change.ts";
import { oneFileTool } from "./one-file-tool.ts";

const parameters = z
  .strictObject({
    file_path: z.string().min(1, "file_path must not be empty."),
    ...editFields,
  })
  .refine(changesSomething, { error: sameStrings, path: ["new_string"] });

type EditArguments = z.infer<typeof parameters> | LineEditArguments;

/**
 * Replaces one text in a file: an exact match, or else the only match that differs in white space and similar-looking
 * characters. Line ends and byte order mark are kept.
 */
export function editTool(ports: FileChangePorts): BuiltInTool<EditArguments> {
  return oneFileTool<EditArguments>(ports, {
    name: "Edit",
    description:
      "Replaces old_string in a file by new_string. It must occur exactly once, unless replace_all is set. Read the file first; " +
      "leave out the line numbers and tabs that Read shows.",
    parameters,
    otherNames: editNames,
    otherForms: lineForms,
    operation: "update",
    missingHint: "Use Write to make a new file.",
    intend: (args, before, name): IntendedFile => {
      if (before === undefined) return { type: "gone" };
      if ("old_string" in args) return editText(before, [args], name);
      const edit = editOfLines(args, before, name);
      return { ...editText(before, [edit], name), byText: { file_path: args.file_path, ...edit } };
    },
    fit: (args, fitted) => ("old_string" in args ? (fittedEdits([args], fitted)[0] ?? args) : args),
  });
}

/** Edits of one file. */
export const textEdits = z
  .array(z.strictObject(editFields).refine(changesSomething, { error: sameStrings, path: ["new_string"] }))
  .min(1, "edits must hold at least one edit.")
  .max(200, "edits holds more than 200 edits; write the whole file.");

const multiParameters = z.strictObject({
  file_path: z.string().min(1, "file_path must not be empty."),
  edits: textEdits,
});

/** Several exact replacements in one file, all or none. */
export function multiEditTool(ports: FileChangePorts): BuiltInTool<z.infer<typeof multiParameters>> {
  return oneFileTool(ports, {
    name: "MultiEdit",
    description:
      "Makes several exact replacements in one file, in order, each on what the one before left, all or none. The rules of Edit hold for each.",
    parameters: multiParameters,
    otherNames: editNames,
    operation: "update",
    missingHint: "Use Write to make a new file.",
    intend: (args, before, name): IntendedFile =>
      before === undefined ? { type: "gone" } : editText(before, args.edits, name),
    fit: (args, fitted) => ({ ...args, edits: fittedEdits(args.edits, fitted) }),
  });
}
