import { lstatSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ledgerFiles } from "@gennai/governance/ledger/ledger-directory";
import { fileFailure } from "../files/file-failure.ts";
import { type HeldDirectory, holdDirectory } from "../files/held-directory.ts";
import { insideOnly } from "../paths/inside-only.ts";
import { componentsOf } from "../paths/split-relative.ts";
import type { WorkspaceRoot } from "../paths/workspace-root.ts";
import { type RipgrepCommand, runRipgrep } from "./ripgrep.ts";
import { excludeParameters, includeParameters } from "./search-globs.ts";

/**
 * `Workspace.glob` by ripgrep. The glob has gitignore syntax and is relative to `base`: without a slash it matches at every
 * depth. Of more than 50,000 matches the newest may be missing; `truncated` says so.
 */
export async function globFiles(
  root: WorkspaceRoot,
  binary: RipgrepCommand,
  pattern: string,
  base: WorkspacePath,
  options: { readonly limit: number; readonly exclude?: readonly string[]; readonly signal: AbortSignal },
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  const components = componentsOf(insideOnly(base).relative);
  using directory = hold(root, components, base.relative);
  // With a glob, ripgrep also lists ignored files, so the matches are intersected with the files that are not ignored.
  const [matching, visible] = await Promise.all([
    listFiles(
      binary,
      directory,
      [...includeParameters(pattern), ...excludeParameters([...(options.exclude ?? []), ledgerFiles], components)],
      options.signal,
    ),
    listFiles(binary, directory, [], options.signal),
  ]);
  const kept = matching.paths.filter((path) => visible.known.has(path)).slice(0, maximumCandidates);
  const newest = await newestFirst(directory, kept, options.signal);
  const prefix = components.map((name) => `${name}/`).join("");
  return {
    paths: newest.slice(0, options.limit).map((path) => prefix + path),
    truncated: newest.length > options.limit || matching.paths.length > maximumCandidates,
  };
}

function hold(root: WorkspaceRoot, components: readonly string[], relative: string): HeldDirectory {
  try {
    return holdDirectory(root, components);
  } catch (error) {
    throw fileFailure(error, "list files of", relative);
  }
}

async function listFiles(
  binary: RipgrepCommand,
  directory: HeldDirectory,
  parameters: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly paths: readonly string[]; readonly known: ReadonlySet<string> }> {
  const known = new Set<string>();
  await runRipgrep(binary, directory, ["--files", "--null", ...parameters], {
    separator: "\0",
    signal,
    onRecord: (path) => {
      const plain = process.platform === "win32" ? path.replaceAll("\\", "/") : path;
      known.add(plain.startsWith("./") ? plain.slice(2) : plain);
      return true;
    },
  });
  return { paths: [...known], known };
}

async function newestFirst(
  directory: HeldDirectory,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const dated: { readonly path: string; readonly modified: number }[] = [];
  for (const [index, path] of paths.entries()) {
    const modified = lstatSync(`${directory.path}/${path}`, { throwIfNoEntry: false })?.mtimeMs;
    if (modified !== undefined) dated.push({ path, modified });
    if (index % 1000 === 999) {
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  dated.sort((a, b) => b.modified - a.modified || (a.path < b.path ? -1 : 1));
  return dated.map(({ path }) => path);
}

const maximumCandidates = 50_000;
