import { errorMessage } from "@gennai/protocol/error-message";
import {
  type ClientFind,
  type ClientSearch,
  ClientWorkspaceError,
} from "@gennai/protocol/model/session/client-workspace";
import ignore, { type Ignore } from "ignore";
import { RE2JS } from "re2js";
import type { FolderFiles } from "./folder-files.ts";

/** Most files that one search looks at. */
const maxFiles = 50_000;
/** Largest file that is searched; bytes. */
const maxBytes = 4 * 1024 * 1024;
/** Longer lines are cut: minified files would fill the model's context with one match. */
const maxColumns = 500;

interface FoundFile {
  readonly path: string;
  readonly changed: number;
}

/**
 * Files below a directory that match a glob in gitignore syntax, newest first, without what git ignores and what is excluded.
 * Links are not followed.
 */
export async function findFiles(
  files: FolderFiles,
  request: ClientFind,
  signal: AbortSignal,
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  const { base, limit, exclude } = request;
  const all = await walk(files, { base, exclude, signal });
  const wanted = matcher(request.pattern);
  const found: FoundFile[] = [];
  for (const path of all.paths) {
    if (!wanted(base === "" ? path : path.slice(base.length + 1))) continue;
    found.push({ path, changed: (await files.stat(path))?.changed ?? 0 });
  }
  found.sort((a, b) => b.changed - a.changed || (a.path < b.path ? -1 : 1));
  return { paths: found.slice(0, limit).map(({ path }) => path), truncated: all.truncated || found.length > limit };
}

/** Matching lines in the form of `ripgrep`, ordered by path. Matching takes time linear in the text. */
export async function searchFiles(
  files: FolderFiles,
  request: ClientSearch,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly truncated: boolean }> {
  const { base, exclude, limit } = request;
  const expression = compiled(request);
  const isFile = (await files.stat(base))?.kind === "file";
  const all = isFile ? { paths: [base], truncated: false } : await walk(files, { base, exclude, signal });
  const wanted = isFile || request.glob === "" ? () => true : matcher(request.glob);
  const lines: string[] = [];
  for (const path of all.paths) {
    signal.throwIfAborted();
    if (!wanted(base === "" ? path : path.slice(base.length + 1))) continue;
    const text = await textOf(files, path);
    if (text === undefined) continue;
    for (const line of matchesIn(path, text, expression, request)) {
      if (lines.length >= limit) return { lines, truncated: true };
      lines.push(line);
    }
  }
  return { lines, truncated: all.truncated };
}

function* matchesIn(path: string, text: string, expression: RE2JS, request: ClientSearch): Iterable<string> {
  const rows = text.split("\n").map((row) => row.replace(/\r$/, ""));
  if (rows.at(-1) === "") rows.pop();
  const hits = rows.flatMap((row, index) => (expression.matcher(row).find() ? [index] : []));
  if (hits.length === 0) return;
  if (request.output === "files") {
    yield path;
    return;
  }
  if (request.output === "count") {
    yield `${path}:${hits.length}`;
    return;
  }
  const isHit = new Set(hits);
  let last = -1;
  for (const hit of hits) {
    const from = Math.max(last + 1, hit - request.context);
    if (request.context > 0 && last >= 0 && from > last + 1) yield "--";
    for (let row = from; row <= Math.min(rows.length - 1, hit + request.context); row += 1) {
      const mark = isHit.has(row) ? ":" : "-";
      yield `${path}${mark}${row + 1}${mark}${(rows[row] ?? "").slice(0, maxColumns)}`;
      last = row;
    }
  }
}

function compiled({ pattern, caseSensitive }: ClientSearch): RE2JS {
  try {
    return RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    const why = errorMessage(error);
    throw new ClientWorkspaceError("bad_pattern", `The pattern cannot be used: ${why}`, { cause: error });
  }
}

async function textOf(files: FolderFiles, path: string): Promise<string | undefined> {
  const found = await files.stat(path);
  if (found?.kind !== "file" || found.size > maxBytes) return undefined;
  const bytes = await files.read(path);
  return bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
}

/** Paths of files, sorted. */
async function walk(
  files: FolderFiles,
  options: { readonly base: string; readonly exclude: readonly string[]; readonly signal: AbortSignal },
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  const excluded = ignore({ ignorecase: true }).add(options.exclude.filter((glob) => !glob.startsWith("!")));
  const paths: string[] = [];
  let truncated = false;
  const visit = async (directory: string, rules: readonly { readonly at: string; readonly ignored: Ignore }[]) => {
    options.signal.throwIfAborted();
    const entries = await files.entries(directory);
    const here = await ignoreFile(files, directory, entries);
    const all = here === undefined ? rules : [...rules, { at: directory, ignored: here }];
    for (const { name, kind } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (paths.length >= maxFiles) {
        truncated = true;
        return;
      }
      const path = directory === "" ? name : `${directory}/${name}`;
      const asked = kind === "directory" ? `${path}/` : path;
      if (name === ".git" || name.startsWith(".") || excluded.ignores(asked)) continue;
      if (all.some(({ at, ignored }) => ignored.ignores(at === "" ? asked : asked.slice(at.length + 1)))) continue;
      if (kind === "directory") await visit(path, all);
      else if (kind === "file") paths.push(path);
    }
  };
  await visit(options.base, await rulesAbove(files, options.base));
  return { paths, truncated };
}

async function rulesAbove(
  files: FolderFiles,
  base: string,
): Promise<readonly { readonly at: string; readonly ignored: Ignore }[]> {
  const names = base === "" ? [] : base.split("/");
  const rules: { readonly at: string; readonly ignored: Ignore }[] = [];
  for (const [index] of names.entries()) {
    const at = names.slice(0, index).join("/");
    const ignored = await ignoreFile(files, at, await files.entries(at));
    if (ignored !== undefined) rules.push({ at, ignored });
  }
  return rules;
}

async function ignoreFile(
  files: FolderFiles,
  directory: string,
  entries: readonly { readonly name: string; readonly kind: string }[],
): Promise<Ignore | undefined> {
  if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return undefined;
  const text = await textOf(files, directory === "" ? ".gitignore" : `${directory}/.gitignore`);
  return text === undefined ? undefined : ignore().add(text);
}

/** Matches by gitignore's rules: a glob without a slash matches at every depth. */
function matcher(glob: string): (path: string) => boolean {
  const pattern = ignore({ allowRelativePaths: true }).add(glob.replace(/^(?:\.\/)+/, ""));
  return (path) => pattern.ignores(path);
}
