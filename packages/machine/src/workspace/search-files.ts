import { lstatSync } from "node:fs";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ledgerFiles } from "@gennai/governance/ledger/ledger-directory";
import { fileFailure } from "./files/file-failure.ts";
import { holdDirectory } from "./files/held-directory.ts";
import { insideOnly } from "./paths/inside-only.ts";
import { componentsOf, splitRelative } from "./paths/split-relative.ts";
import type { WorkspaceRoot } from "./paths/workspace-root.ts";
import { type RipgrepCommand, runRipgrep } from "./search/ripgrep.ts";
import { exactly, excludeParameters, includeParameters } from "./search/search-globs.ts";
import type { SearchQuery, SearchResult } from "./workspace.ts";

/**
 * `Workspace.search` by ripgrep, in the order of paths. Lines are `path:line:text`, `path-line-text` around a match and `--`
 * between groups; `path` for files; `path:count` for counts. Paths are relative to the root.
 */
export async function searchFiles(
  root: WorkspaceRoot,
  binary: RipgrepCommand,
  query: SearchQuery,
  base: WorkspacePath,
  options: { readonly signal: AbortSignal },
): Promise<SearchResult> {
  const place = placeOf(root, base);
  using directory = holdDirectory(root, place.directory);
  const lines: string[] = [];
  let truncated = false;
  const parameters = [
    `--regexp=${withAnyLineEnd(query.pattern)}`,
    query.caseSensitive ? "--case-sensitive" : "--ignore-case",
    // Also if the pattern lets a dot match a line feed.
    ...(/\n|\\n|^\(\?s\)/.test(query.pattern) ? ["--multiline"] : []),
    ...outputParameters(query),
    ...(place.file === undefined ? includeParameters(query.glob) : ["--max-depth=1", `--glob=${exactly(place.file)}`]),
    ...excludeParameters(place.file === undefined ? [...query.exclude, ledgerFiles] : query.exclude, place.directory),
  ];
  const prefix = place.directory.map((name) => `${name}/`).join("");
  await runRipgrep(binary, directory, parameters, {
    separator: query.output === "files" ? "\0" : "\n",
    signal: options.signal,
    onRecord: (record) => {
      const line = lineOf(record, query.output, prefix);
      if (line === undefined || (line === "--" && lines.length >= query.limit)) return true;
      if (lines.length >= query.limit) {
        truncated = true;
        return false;
      }
      lines.push(line);
      return true;
    },
  });
  return { lines, truncated };
}

/** A file is searched from its directory, so that ripgrep gets no path that could be replaced with a link. */
function placeOf(
  root: WorkspaceRoot,
  base: WorkspacePath,
): { readonly directory: readonly string[]; readonly file: string | undefined } {
  const { relative } = insideOnly(base);
  if (relative === "") return { directory: [], file: undefined };
  const { parents, name } = splitRelative(relative);
  try {
    using parent = holdDirectory(root, parents);
    const isFile = lstatSync(parent.entry(name)).isFile();
    return isFile ? { directory: parents, file: name } : { directory: componentsOf(relative), file: undefined };
  } catch (error) {
    throw fileFailure(error, "search", relative);
  }
}

/**
 * Line feeds and `$` of a pattern, outside of classes, also match at CRLF, because lines are shown without their CR. With --crlf,
 * ripgrep would refuse a `\r` that is meant.
 */
function withAnyLineEnd(pattern: string): string {
  // In verbose mode, white space is for readers.
  if (/\(\?\w*x/.test(pattern)) return pattern;
  return pattern.replaceAll(/\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\\[\s\S]|[\n$]/g, (part) =>
    part === "$" ? "(?:\\r?$)" : part === "\n" || part === "\\n" ? "(?:\\r?\\n)" : part,
  );
}

function outputParameters(query: SearchQuery): string[] {
  const common = ["--null", "--with-filename", "--sort=path"];
  switch (query.output) {
    case "files":
      return [...common, "--files-with-matches"];
    case "count":
      return [...common, "--count"];
    case "content":
      return [
        ...common,
        "--line-number",
        "--no-heading",
        `--max-columns=${maximumColumns}`,
        "--max-columns-preview",
        ...(query.context > 0 ? [`--context=${Math.floor(query.context)}`] : []),
      ];
  }
}

/** undefined for what is not a result, e.g. the remark that a binary file matches. */
function lineOf(record: string, output: SearchQuery["output"], prefix: string): string | undefined {
  if (output === "files") return prefix + withoutDot(record);
  if (record === "--") return record;
  const end = record.indexOf("\0");
  // Further lines of a multi-line match have the path too; a line without a path is not a result.
  if (end < 0) return undefined;
  const path = prefix + withoutDot(record.slice(0, end));
  const rest = record.slice(end + 1).replace(/\r$/, "");
  if (output === "count") return `${path}:${rest}`;
  const mark = /^\d+([:-])/.exec(rest)?.[1];
  return mark === undefined ? undefined : path + mark + rest;
}

function withoutDot(path: string): string {
  const plain = process.platform === "win32" ? path.replaceAll("\\", "/") : path;
  return plain.startsWith("./") ? plain.slice(2) : plain;
}

/** Longer lines are cut: minified files would fill the model's context with one match. */
const maximumColumns = 500;
