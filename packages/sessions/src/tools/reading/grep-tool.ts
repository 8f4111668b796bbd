import type { BuiltInTool } from "@gennai/governance/tool";
import type { SearchQuery, Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { keptOutputName } from "../../session/state/kept-output-name.ts";
import { type KeptOutputs, keptOutput, searchText } from "../kept-output.ts";
import { pathName } from "../path-name.ts";
import { effectPath } from "./effect-path.ts";

const defaultLimit = 250;

/** File types for searches, by ripgrep's names, with their globs. */
const fileTypes: Readonly<Record<string, string>> = {
  c: "*.{c,h}",
  cpp: "*.{cpp,cc,cxx,hpp,hh,hxx,h}",
  cs: "*.cs",
  css: "*.{css,scss}",
  go: "*.go",
  html: "*.{html,htm}",
  java: "*.java",
  js: "*.{js,jsx,mjs,cjs,vue}",
  json: "*.json",
  kotlin: "*.{kt,kts}",
  md: "*.{md,mdx,markdown}",
  php: "*.php",
  py: "*.{py,pyi}",
  ruby: "*.rb",
  rust: "*.rs",
  sh: "*.{sh,bash,zsh}",
  sql: "*.sql",
  swift: "*.swift",
  toml: "*.toml",
  ts: "*.{ts,tsx,mts,cts}",
  yaml: "*.{yaml,yml}",
};

const parameters = z
  .strictObject({
    pattern: z.string().min(1, "pattern must not be empty.").describe("A regular expression in ripgrep's syntax."),
    path: z.string().min(1).optional().describe("File or directory; the workspace by default."),
    glob: z.string().min(1).optional().describe("Only files that match, e.g. *.ts."),
    output_mode: z
      .enum(["content", "files_with_matches", "count"])
      .optional()
      .describe("files_with_matches by default."),
    "-i": z.boolean().optional().describe("Ignores case."),
    "-n": z.boolean().optional().describe("Line numbers in content; true by default."),
    "-C": z.int().min(0).max(100).optional().describe("Lines of context around a match, in content."),
    multiline: z.boolean().optional().describe("The pattern may span lines, and a dot matches their ends too."),
    type: z.enum(Object.keys(fileTypes)).optional().describe("Only files of this kind."),
    head_limit: z.int().min(1).max(10_000).optional().describe("Lines of output at most; 250 by default."),
  })
  .refine(({ glob, type }) => glob === undefined || type === undefined || globOfType(glob, type) !== undefined, {
    error: "No file is both of this type and of this glob; give one of them.",
    path: ["type"],
  });

type GrepArguments = z.infer<typeof parameters>;

const outputKinds: Record<NonNullable<GrepArguments["output_mode"]>, SearchQuery["output"]> = {
  content: "content",
  files_with_matches: "files",
  count: "count",
};

/** Searches file contents. `exclude`: globs of files that no search may reach. */
export function grepTool(ports: {
  readonly workspace: Workspace;
  readonly exclude: readonly string[];
  readonly outputs: KeptOutputs;
}): BuiltInTool<GrepArguments> {
  const { workspace, exclude, outputs } = ports;
  return {
    name: "Grep",
    description: "Searches the contents of files by a regular expression. Files that git ignores are left out.",
    parameters,
    otherNames: {
      query: "pattern",
      regex: "pattern",
      include: "glob",
      include_pattern: "glob",
      dir_path: "path",
      file_path: "path",
      context: "-C",
      "-A": "-C",
      "-B": "-C",
      case_insensitive: "-i",
    },
    access: "read",

    async analyse(args) {
      const kept = keptOutputName(args.path ?? ".");
      if (kept !== undefined) {
        return {
          statement: `Search ${args.path}, a result of before, for ${args.pattern}`,
          effects: [{ type: "session" }],
        };
      }
      const path = await workspace.resolve(args.path ?? ".");
      const glob = globOf(args);
      return {
        statement: `Search ${pathName(path)} for ${args.pattern}`,
        effects: [{ type: "search", path, ...(glob === undefined ? {} : { glob }) }],
      };
    },

    async execute(args, analysis, { signal }) {
      const output = outputKinds[args.output_mode ?? "files_with_matches"];
      const glob = globOf(args);
      const query: SearchQuery = {
        pattern: args.multiline === true ? `(?s)${args.pattern}` : args.pattern,
        ...(glob === undefined ? {} : { glob }),
        caseSensitive: args["-i"] !== true,
        output,
        context: output === "content" ? (args["-C"] ?? 0) : 0,
        limit: args.head_limit ?? defaultLimit,
        exclude,
      };
      const kept = keptOutputName(args.path ?? ".");
      const result =
        kept === undefined
          ? await workspace.search(query, effectPath(analysis, "search"), { signal })
          : await searchText(await keptOutput(outputs, kept), `@output/${kept}`, query, { signal });
      if (result.lines.length === 0) return { output: "[no matches]" };
      const lines = output === "content" && args["-n"] === false ? result.lines.map(withoutNumber) : [...result.lines];
      if (result.truncated) lines.push(`[first ${result.lines.length} lines; narrow the search or raise head_limit]`);
      return { output: lines.join("\n"), truncated: result.truncated };
    },
  };
}

function globOf({ glob, type }: GrepArguments): string | undefined {
  if (type === undefined) return glob;
  return glob === undefined ? fileTypes[type] : globOfType(glob, type);
}

/** `path:12:text` (or `path-12-text` for context) without the line number. */
function withoutNumber(line: string): string {
  return line.replace(/^(.+?)([:-])\d+\2/, "$1$2");
}

/**
 * The glob of files that match both, e.g. `src/**` and `ts`; undefined if there are none, or no glob can express it. Only the
 * last part of a glob is considered: its type, or the extensions it names.
 */
export function globOfType(glob: string, type: string): string | undefined {
  const ofType = fileTypes[type];
  const [, directory = "", name = ""] = /^([^!].*\/)?([^/]*)$/.exec(glob) ?? [];
  if (ofType === undefined || name === "") return undefined;
  if (name === "**") return `${directory}**/${ofType}`;
  if (name === "*") return `${directory}${ofType}`;
  const endings = endingsOf(ofType);
  const [, stem, ending = ""] = /^(.*)\.([^.{}*?[\]!]+|\{[^.{}*?[\]!]+\})$/.exec(name) ?? [];
  if (stem === undefined || stem.startsWith("!")) return undefined;
  const named = endingsOf(`*.${ending}`);
  const both = named.filter((each) => endings.includes(each));
  if (both.length === 0) return undefined;
  return both.length === named.length
    ? glob
    : `${directory}${stem}.${both.length === 1 ? both[0] : `{${both.join(",")}}`}`;
}

/** Extensions of a glob `*.a` or `*.{a,b}`. */
function endingsOf(glob: string): readonly string[] {
  return glob.slice(2).replaceAll(/[{}]/g, "").split(",");
}
