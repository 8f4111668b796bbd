import type { BuiltInTool } from "@gennai/governance/tool";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { effectPath } from "./effect-path.ts";

const limit = 1000;

const parameters = z.strictObject({
  path: z.string().min(1, "path must not be empty; leave it out for the workspace itself.").optional(),
  ignore: z.array(z.string().min(1)).max(100).optional().describe("Globs of names to leave out."),
});

type LsArguments = z.infer<typeof parameters>;

/** Lists a directory: an entry a line, directories with a slash behind. */
export function lsTool(ports: { readonly workspace: Workspace }): BuiltInTool<LsArguments> {
  return {
    name: "LS",
    description: "Lists a directory of the workspace, one entry a line; directories end with a slash.",
    parameters,
    otherNames: { dir_path: "path", directory: "path", file_path: "path", dir: "path" },
    access: "read",

    async analyse(args) {
      const path = await ports.workspace.resolve(args.path ?? ".");
      return { statement: `List ${pathName(path)}`, effects: [{ type: "list", path }] };
    },

    async execute(args, analysis) {
      const path = effectPath(analysis, "list");
      const listing = await ports.workspace.list(path, { ignore: args.ignore ?? [], limit });
      const lines = listing.entries.map((entry) => (entry.kind === "directory" ? `${entry.name}/` : entry.name));
      if (lines.length === 0) lines.push("[empty directory]");
      if (listing.truncated)
        lines.push(`[first ${listing.entries.length} entries; narrow it with ignore or a deeper path]`);
      return { output: lines.join("\n"), truncated: listing.truncated };
    },
  };
}
