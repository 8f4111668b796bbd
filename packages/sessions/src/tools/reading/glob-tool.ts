import type { BuiltInTool } from "@gennai/governance/tool";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { effectPath } from "./effect-path.ts";

const limit = 500;

const parameters = z.strictObject({
  pattern: z.string().min(1, "pattern must not be empty.").describe("A glob such as src/**/*.ts."),
  path: z.string().min(1).optional().describe("Directory to look in; the workspace by default."),
});

type GlobArguments = z.infer<typeof parameters>;

/** Finds files by name: a path a line, newest first. */
export function globTool(ports: { readonly workspace: Workspace }): BuiltInTool<GlobArguments> {
  return {
    name: "Glob",
    description: "Finds files by a glob pattern, newest first, one path a line. Files that git ignores are left out.",
    parameters,
    otherNames: { glob: "pattern", glob_pattern: "pattern", dir_path: "path", directory: "path" },
    access: "read",

    async analyse(args) {
      const path = await ports.workspace.resolve(args.path ?? ".");
      return {
        statement: `Find ${args.pattern} in ${pathName(path)}`,
        effects: [{ type: "list", path, glob: args.pattern }],
      };
    },

    async execute(args, analysis, { signal }) {
      const found = await ports.workspace.glob(args.pattern, effectPath(analysis, "list"), { limit, signal });
      const lines = found.paths.length === 0 ? ["[no files found]"] : [...found.paths];
      if (found.truncated) lines.push(`[first ${found.paths.length} files; narrow the pattern]`);
      return { output: lines.join("\n"), truncated: found.truncated };
    },
  };
}
