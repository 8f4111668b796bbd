import type { Tool } from "@gennai/governance/tool";
import type { SearchQuery, Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { effectPath } from "./effect-path.ts";

const defaultLimit = 250;

const parameters = z.strictObject({
  pattern: z.string().min(1, "pattern must not be empty.").describe("A regular expression in ripgrep's syntax."),
  path: z.string().min(1).optional().describe("File or directory to search; the workspace by default."),
  glob: z.string().min(1).optional().describe("Searches only files that match, e.g. *.ts."),
  output_mode: z.enum(["content", "files_with_matches", "count"]).optional().describe("files_with_matches by default."),
  "-i": z.boolean().optional().describe("Ignores case."),
  "-n": z.boolean().optional().describe("Line numbers in content; true by default."),
  "-C": z.int().min(0).max(100).optional().describe("Lines of context around a match, in content."),
  head_limit: z.int().min(1).max(10_000).optional().describe("Lines of output at most; 250 by default."),
});

type GrepArguments = z.infer<typeof parameters>;

const outputs: Record<NonNullable<GrepArguments["output_mode"]>, SearchQuery["output"]> = {
  content: "content",
  files_with_matches: "files",
  count: "count",
};

/** Searches file contents. `exclude`: globs of files that no search may reach. */
export function grepTool(ports: {
  readonly workspace: Workspace;
  readonly exclude: readonly string[];
}): Tool<GrepArguments> {
  const { workspace, exclude } = ports;
  return {
    name: "Grep",
    description: "Searches the contents of files by a regular expression. Files that git ignores are left out.",
    parameters,
    access: "read",

    async analyse(args) {
      const path = await workspace.resolve(args.path ?? ".");
      const glob = args.glob === undefined ? {} : { glob: args.glob };
      return {
        statement: `Search ${pathName(path)} for ${args.pattern}`,
        effects: [{ type: "search", path, ...glob }],
      };
    },

    async execute(args, analysis, { signal }) {
      const output = outputs[args.output_mode ?? "files_with_matches"];
      const query: SearchQuery = {
        pattern: args.pattern,
        ...(args.glob === undefined ? {} : { glob: args.glob }),
        caseSensitive: args["-i"] !== true,
        output,
        context: output === "content" ? (args["-C"] ?? 0) : 0,
        limit: args.head_limit ?? defaultLimit,
        exclude,
      };
      const result = await workspace.search(query, effectPath(analysis, "search"), { signal });
      if (result.lines.length === 0) return { output: "[no matches]" };
      const lines = output === "content" && args["-n"] === false ? result.lines.map(withoutNumber) : [...result.lines];
      if (result.truncated) lines.push(`[first ${result.lines.length} lines; narrow the search or raise head_limit]`);
      return { output: lines.join("\n"), truncated: result.truncated };
    },
  };
}

/** `path:12:text` (or `path-12-text` for context) without the number. */
function withoutNumber(line: string): string {
  return line.replace(/^(.+?)([:-])\d+\2/, "$1$2");
}
