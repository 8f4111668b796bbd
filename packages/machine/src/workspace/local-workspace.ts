import { type Dirent, lstatSync, readdirSync } from "node:fs";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { systemErrorCode } from "../system-error.ts";
import { applyChanges } from "./apply-changes.ts";
import { fileFailure } from "./files/file-failure.ts";
import { holdDirectory } from "./files/held-directory.ts";
import { readHeldFileInPieces, temporaryPrefix } from "./files/held-file.ts";
import { insideOnly } from "./paths/inside-only.ts";
import { resolvePath } from "./paths/resolve-path.ts";
import { componentsOf, splitRelative } from "./paths/split-relative.ts";
import { checkRootInPlace, openWorkspaceRoot, type WorkspaceRoot } from "./paths/workspace-root.ts";
import { globFiles } from "./search/glob-files.ts";
import { expandBraces, matchesName } from "./search/name-glob.ts";
import type { RipgrepCommand } from "./search/ripgrep.ts";
import { ripgrepPath } from "./search/ripgrep-path.ts";
import { searchFiles } from "./search-files.ts";
import type {
  AppliedChange,
  ApplyOptions,
  FileContent,
  FileStat,
  Listing,
  ResolveOptions,
  SearchQuery,
  SearchResult,
  Workspace,
  WorkspaceChange,
} from "./workspace.ts";

/**
 * Opens a directory of this machine as a workspace. Throws `WorkspaceError` for one that is missing, no directory, or so
 * broad that it holds the user's home, the server's state or the system. Holds nothing open between calls.
 */
export function openLocalWorkspace(directory: string, options: LocalWorkspaceOptions): LocalWorkspace {
  return new LocalWorkspace(openWorkspaceRoot(directory, options), options);
}

export interface LocalWorkspaceOptions {
  /** The server's state directory: journals of changes are kept below it. */
  readonly stateDir: string;
  /** The user's home; by default that of the process. */
  readonly home?: string;
  /** Absolute path of ripgrep, for servers without `node_modules`. */
  readonly ripgrepPath?: string;
  /** Program and arguments that start ripgrep where the root is mounted. */
  readonly through?: readonly string[];
}

/** The disk as a workspace. Every call fails with `workspace_replaced` once another directory is at its path. */
export class LocalWorkspace implements Workspace {
  readonly #root: WorkspaceRoot;
  readonly #stateDir: string;
  readonly #ripgrepPath: string | undefined;
  readonly #through: readonly string[];

  constructor(root: WorkspaceRoot, options: LocalWorkspaceOptions) {
    this.#root = root;
    this.#stateDir = options.stateDir;
    this.#ripgrepPath = options.ripgrepPath;
    this.#through = options.through ?? [];
  }

  get root(): string {
    return this.#root.path;
  }

  get place(): string {
    return this.#root.path;
  }

  get controlRoot(): string {
    return this.#root.path;
  }

  /** Nothing to do, because the control files are read in place. */
  async syncControl(): Promise<void> {}

  /** Tells apart directories that were at the same path at different times. */
  get identity(): string {
    return `${this.#root.device}:${this.#root.inode}:${this.#root.path}`;
  }

  async resolve(raw: string, options?: ResolveOptions): Promise<WorkspacePath> {
    checkRootInPlace(this.#root);
    return resolvePath(this.#root.path, raw, options);
  }

  async stat(path: WorkspacePath): Promise<FileStat | undefined> {
    const { relative } = insideOnly(path);
    try {
      const { parents, name } = splitRelative(relative);
      using directory = holdDirectory(this.#root, parents);
      const stat = lstatSync(name === "" ? `${directory.path}/.` : directory.entry(name));
      const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
      return { kind, size: stat.size, mode: stat.mode & 0o7777 };
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw fileFailure(error, "look at", relative);
    }
  }

  async read(
    path: WorkspacePath,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<FileContent> {
    const { relative } = insideOnly(path);
    const { parents, name } = splitRelative(relative);
    try {
      if (name === "") throw new ToolFailure("not_a_file", "The workspace root is a directory, not a file.");
      using directory = holdDirectory(this.#root, parents);
      const { bytes, sha256 } = await readHeldFileInPieces(directory, name, options);
      return { bytes, sha256 };
    } catch (error) {
      throw fileFailure(error, "read", relative);
    }
  }

  async list(
    path: WorkspacePath,
    options: { readonly ignore: readonly string[]; readonly limit: number },
  ): Promise<Listing> {
    return listDirectory(this.#root, path, options);
  }

  async glob(
    pattern: string,
    base: WorkspacePath,
    options: { readonly limit: number; readonly exclude?: readonly string[]; readonly signal: AbortSignal },
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
    return globFiles(this.#root, this.#ripgrep(), pattern, base, options);
  }

  async search(
    query: SearchQuery,
    base: WorkspacePath,
    options: { readonly signal: AbortSignal },
  ): Promise<SearchResult> {
    return searchFiles(this.#root, this.#ripgrep(), query, base, options);
  }

  async apply(changes: readonly WorkspaceChange[], options?: ApplyOptions): Promise<readonly AppliedChange[]> {
    return applyChanges(this.#root, this.#stateDir, changes, options);
  }

  #ripgrep(): RipgrepCommand {
    return [...this.#through, this.#ripgrepPath ?? ripgrepPath()];
  }
}

/**
 * `Workspace.list` on the disk: the entries of one directory, by name. `ignore` are globs of names (`node_modules`, `*.log`); with a slash inside they are relative to the root.
 */
function listDirectory(
  root: WorkspaceRoot,
  path: WorkspacePath,
  options: { readonly ignore: readonly string[]; readonly limit: number },
): Listing {
  const { relative } = insideOnly(path);
  const ignore = options.ignore.flatMap((glob) => expandBraces(glob) ?? []).map(trim);
  const prefix = relative === "" ? "" : `${relative}/`;
  const kept = readEntries(root, relative)
    .filter(
      ({ name }) =>
        !name.startsWith(temporaryPrefix) &&
        !ignore.some((glob) => matchesName(glob, glob.includes("/") ? prefix + name : name)),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    entries: kept.slice(0, options.limit).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
    truncated: kept.length > options.limit,
  };
}

function readEntries(root: WorkspaceRoot, relative: string): Dirent[] {
  try {
    using directory = holdDirectory(root, componentsOf(relative));
    return readdirSync(directory.path, { withFileTypes: true });
  } catch (error) {
    throw fileFailure(error, "list", relative);
  }
}

function trim(glob: string): string {
  return glob.replace(/^(?:\.\/|\/|\*\*\/)+/, "").replace(/(?:\/\*\*?)?\/*$/, "");
}

function kindOf(entry: Dirent): "file" | "directory" | "link" | "other" {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}
