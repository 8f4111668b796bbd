import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import type { FileChangePorts } from "./change/file-change.ts";
import { oneFileTool } from "./one-file-tool.ts";

const parameters = z.strictObject({
  file_path: z.string().min(1, "file_path must not be empty."),
});

/** Deletes one file. */
export function deleteTool(ports: FileChangePorts): BuiltInTool<z.infer<typeof parameters>> {
  return oneFileTool(ports, {
    name: "Delete",
    description: "Deletes one file of the workspace. Directories cannot be deleted with it.",
    parameters,
    operation: "delete",
    missingHint: "Look with LS or Glob what is there.",
    intend: () => ({ type: "gone" }),
  });
}
