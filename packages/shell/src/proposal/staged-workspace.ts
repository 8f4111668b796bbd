import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { LocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { insideOnly } from "@gennai/machine/workspace/paths/inside-only";
import { exactly } from "@gennai/machine/workspace/search/search-globs";
import type {
  AppliedChange,
  ApplyOptions,
  FileContent,
  FileStat,
  Listing,
  SearchQuery,
  SearchResult,
  Workspace,
  WorkspaceChange,
} from "@gennai/machine/workspace/workspace";
import { WorkspaceOver } from "@gennai/machine/workspace/workspace-over";
import { maxStagedBytes, ordinaryMode } from "./staged-file.ts";
import type { FileBytes, StagedTree } from "./staged-tree.ts";

/** The workspace as it would be with everything staged: writes go only into the staged tree. */
export class StagedWorkspace extends WorkspaceOver implements Workspace {
  readonly #tree: StagedTree;
  readonly #stateDir: string;

  constructor(below: Workspace, tree: StagedTree, { stateDir }: { readonly stateDir: string }) {
    super(below);
    this.#tree = tree;
    this.#stateDir = stateDir;
  }

  async stat(path: WorkspacePath): Promise<FileStat | undefined> {
    if (!path.inside) return this.below.stat(path);
    switch (this.#of(path)) {
      case "staged":
        return this.#view.stat(this.#inView(path));
      case "removed":
        return undefined;
      case "below":
        return (await this.below.stat(path)) ?? (this.#isMade(path) ? this.#view.stat(this.#inView(path)) : undefined);
    }
  }

  async read(
    path: WorkspacePath,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<FileContent> {
    if (!path.inside) return this.below.read(path, options);
    switch (this.#of(path)) {
      case "staged":
        return this.#view.read(this.#inView(path), options);
      case "removed":
        throw new ToolFailure("not_found", `Cannot read ${path.relative}: it is removed in what is proposed.`);
      case "below":
        return this.below.read(path, options);
    }
  }

  async list(
    path: WorkspacePath,
    options: { readonly ignore: readonly string[]; readonly limit: number },
  ): Promise<Listing> {
    const { relative } = insideOnly(path);
    const everything = { ignore: options.ignore, limit: Number.MAX_SAFE_INTEGER };
    const made = this.#isMade(path) ? (await this.#view.list(this.#inView(path), everything)).entries : [];
    const there = made.length > 0 && (await this.below.stat(path)) === undefined ? undefined : path;
    const found = there === undefined ? [] : (await this.below.list(there, everything)).entries;
    const entries = new Map(found.map((entry) => [entry.name, entry]));
    for (const { path: removed } of this.#removed) {
      const at = removed.lastIndexOf("/");
      if ((at < 0 ? "" : removed.slice(0, at)) === relative) entries.delete(removed.slice(at + 1));
    }
    for (const entry of made) entries.set(entry.name, entry);
    const sorted = [...entries.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return { entries: sorted.slice(0, options.limit), truncated: sorted.length > options.limit };
  }

  async glob(
    pattern: string,
    base: WorkspacePath,
    options: { readonly limit: number; readonly exclude?: readonly string[]; readonly signal: AbortSignal },
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
    const { files } = this.#tree;
    const made = this.#isMade(base) ? (await this.#view.glob(pattern, this.#inView(base), options)).paths : [];
    const isThere = made.length === 0 || (await this.below.stat(base)) !== undefined;
    const wanted = { ...options, limit: options.limit + files.size };
    const found = isThere ? await this.below.glob(pattern, base, wanted) : { paths: [], truncated: false };
    const paths = [...made, ...found.paths.filter((path) => !files.has(path))];
    return { paths: paths.slice(0, options.limit), truncated: found.truncated || paths.length > options.limit };
  }

  async search(
    query: SearchQuery,
    base: WorkspacePath,
    options: { readonly signal: AbortSignal },
  ): Promise<SearchResult> {
    const isStaged = this.#tree.files.has(base.relative);
    const made =
      isStaged || this.#isMade(base) ? await this.#view.search(query, this.#inView(base), options) : nothingFound;
    const exclude = [...query.exclude, ...[...this.#tree.files.keys()].map(exactly)];
    const isThere = !isStaged && (await this.below.stat(base)) !== undefined;
    const found =
      isThere || made === nothingFound ? await this.below.search({ ...query, exclude }, base, options) : nothingFound;
    const lines = [...made.lines, ...found.lines];
    return {
      lines: lines.slice(0, query.limit),
      truncated: made.truncated || found.truncated || lines.length > query.limit,
    };
  }

  /** Writes into the staged tree, each file against its base as in `Workspace.apply`. All or nothing. */
  async apply(changes: readonly WorkspaceChange[], { ready }: ApplyOptions = {}): Promise<readonly AppliedChange[]> {
    await ready;
    const { digest } = this.#tree;
    const planned: PlannedWrite[] = [];
    for (const change of changes) {
      planned.push(await planWrite(this, change));
      this.#refuseBlocked(change);
    }
    if (this.#tree.digest !== digest) throw stale("What is proposed changed meanwhile");
    // For a file that is already staged, the tree knows the base.
    this.#tree.update(
      planned.map(({ applied, base, staged }) => ({ path: applied.path.relative, base, staged, command: "" })),
    );
    return planned.map(({ applied }) => applied);
  }

  get #view(): LocalWorkspace {
    const path = this.#tree.view;
    const { dev, ino } = lstatSync(path);
    return new LocalWorkspace({ path, device: dev, inode: ino }, { stateDir: this.#stateDir });
  }

  #inView(path: WorkspacePath): WorkspacePath {
    return { ...path, absolute: join(this.#tree.view, path.relative) };
  }

  get #removed() {
    return [...this.#tree.files.values()].filter(({ staged }) => staged === null);
  }

  /** True if it is a directory that exists only because of staged files. */
  #isMade({ relative }: WorkspacePath): boolean {
    return this.#tree.hasBelow(relative);
  }

  #of({ relative }: WorkspacePath): "staged" | "removed" | "below" {
    const file = this.#tree.files.get(relative);
    if (file !== undefined && (file.staged !== null || !this.#tree.hasBelow(relative))) {
      return file.staged === null ? "removed" : "staged";
    }
    return this.#tree.fileAbove(relative) === undefined ? "below" : "removed";
  }

  #refuseBlocked({ operation, path }: WorkspaceChange): void {
    const above = this.#tree.fileAbove(path.relative);
    if (operation === "delete" || above === undefined) return;
    throw new ToolFailure("bad_path", `${above} is a file in what is proposed, so nothing can lie below it.`);
  }
}

/** One change of a file, before it is made. */
export interface PlannedWrite {
  readonly applied: AppliedChange;
  /** The present file; undefined for none. */
  readonly base: FileBytes | undefined;
  /** Undefined: the file is removed. */
  readonly staged: FileBytes | undefined;
}

/** Throws `ToolFailure`: `stale_file` as `Workspace.apply` does, `not_a_file` for what is no regular file. */
export async function planWrite(workspace: Workspace, change: WorkspaceChange): Promise<PlannedWrite> {
  const path = insideOnly(change.path);
  const base = await presentFile(workspace, path);
  refuseStale(change, base);
  const staged =
    change.operation === "delete"
      ? undefined
      : { bytes: change.bytes, mode: change.mode ?? base?.mode ?? ordinaryMode };
  const applied = {
    path,
    operation: change.operation,
    before: base === undefined ? undefined : { sha256: base.sha256, bytes: base.bytes },
    afterSha256: staged === undefined ? undefined : sha256(staged.bytes),
    ...(base === undefined ? {} : { beforeMode: base.mode }),
  };
  return { applied, base, staged };
}

/** A regular file with its mode; undefined if there is none. */
async function presentFile(workspace: Workspace, path: WorkspacePath): Promise<(FileBytes & FileContent) | undefined> {
  const stat = await workspace.stat(path);
  if (stat === undefined) return undefined;
  if (stat.kind !== "file") throw new ToolFailure("not_a_file", `${path.relative} is not a regular file.`);
  const { bytes, sha256: digest } = await workspace.read(path, { maxBytes: maxStagedBytes });
  return { bytes, sha256: digest, mode: stat.mode };
}

const nothingFound: SearchResult = { lines: [], truncated: false };

function refuseStale(change: WorkspaceChange, before: FileContent | undefined): void {
  const { relative } = change.path;
  if (change.operation === "create") {
    if (before !== undefined) throw stale(`${relative} exists already`);
    return;
  }
  if (before === undefined) throw stale(`${relative} is no longer there`);
  if (before.sha256 !== change.baseSha256) throw stale(`${relative} changed since it was read`);
}

function stale(reason: string): ToolFailure {
  return new ToolFailure("stale_file", `Stale File: ${reason}. Nothing was written.`, {
    hint: "Read the file again and make the change on what it says now.",
    retryable: true,
  });
}
