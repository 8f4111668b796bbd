import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import { changesSomething, editFields, editNames, editText, fittedEdits, sameStrings } from "./change/edit-text.ts";
import type { FileChangePorts, IntendedFile } from "./change/file-change.ts";
import { oneFileTool } from "./one-file-tool.ts";

/** Edits of one file. */
export const textEdits = z
  .array(z.strictObject(editFields).refine(changesSomething, { error: sameStrings, path: ["new_string"] }))
  .min(1, "edits must hold at least one edit.")
  .max(200, "edits holds more than 200 edits; write the whole file.");

const parameters = z.strictObject({
  file_path: z.string().min(1, "file_path must not be empty."),
  edits: textEdits,
});

/** Several exact replacements in one file, all or none. */
export function multiEditTool(ports: FileChangePorts): BuiltInTool<z.infer<typeof parameters>> {
  return oneFileTool(ports, {
    name: "MultiEdit",
    description:
      "Makes several exact replacements in one file, in order, each on what the one before left, all or none. The rules of Edit hold for each.",
    parameters,
    otherNames: editNames,
    operation: "update",
    missingHint: "Use Write to make a new file.",
    intend: (args, before, name): IntendedFile =>
      before === undefined ? { type: "gone" } : editText(before, args.edits, name),
    fit: (args, fitted) => ({ ...args, edits: fittedEdits(args.edits, fitted) }),
  });
}
