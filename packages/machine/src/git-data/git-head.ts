import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileText } from "./file-text.ts";
import { isRefName } from "./git-refs.ts";

/**
 * State of a working tree's HEAD, read from a few small files without starting git. Searches the repository upwards from
 * `directory`. `none` outside of one, and for anything that cannot be parsed.
 */
export function readGitHead(directory: string): GitHead {
  const repository = findRepository(directory);
  if (repository === undefined) return { type: "none" };
  const head = readText(join(repository.directory, "HEAD"));
  if (head === undefined) return { type: "none" };
  if (objectId.test(head)) {
    const branch = rebasedBranch((path) => readText(join(repository.directory, path)));
    return branch === undefined ? { type: "detached", commit: head } : { type: "branch", branch, commit: head };
  }
  const ref = symbolicRef(head);
  if (ref === undefined) return { type: "none" };
  const commit = readRef(repository, ref);
  // HEAD may name a ref that is not a branch; then no branch moves with commits.
  if (ref.startsWith(branchPrefix)) return { type: "branch", branch: ref.slice(branchPrefix.length), commit };
  return commit === undefined ? { type: "none" } : { type: "detached", commit };
}

/**
 * The branch of a rebase that has stopped: HEAD is detached then, but the work belongs to that branch.
 *
 * @param read reads a small file of git's data, by its path there; undefined if it is missing
 */
function rebasedBranch(read: (path: string) => string | undefined): string | undefined {
  const name = read("rebase-merge/head-name") ?? read("rebase-apply/head-name");
  const ref = name === undefined ? undefined : symbolicRef(`ref: ${name.trim()}`);
  return ref?.startsWith(branchPrefix) ? ref.slice(branchPrefix.length) : undefined;
}

/** Name of the default branch of `origin`, e.g. `main`; undefined if this clone does not know it. */
export function defaultRemoteBranch(directory: string): string | undefined {
  const repository = findRepository(directory);
  const head = repository && readText(join(repository.common, "refs/remotes/origin/HEAD"));
  const ref = head === undefined ? undefined : symbolicRef(head);
  return ref?.startsWith(originPrefix) ? ref.slice(originPrefix.length) : undefined;
}

export type GitHead =
  /** `commit` is undefined on a branch without commits; while a rebase of the branch has stopped, it is HEAD's. */
  | { readonly type: "branch"; readonly branch: string; readonly commit: string | undefined }
  | { readonly type: "detached"; readonly commit: string }
  | { readonly type: "none" };

interface Repository {
  /** Git directory of this working tree; has its HEAD. */
  readonly directory: string;
  /** Git directory that all working trees share; has the refs. */
  readonly common: string;
}

function findRepository(directory: string): Repository | undefined {
  for (let current = resolve(directory); ; current = dirname(current)) {
    const found = repositoryAt(join(current, ".git"));
    if (found !== undefined || dirname(current) === current) return found;
  }
}

function repositoryAt(path: string): Repository | undefined {
  const kind = kindOf(path);
  const pointer = kind === "file" ? /^gitdir: (.+)$/.exec(readText(path) ?? "")?.[1] : undefined;
  if (kind !== "directory" && pointer === undefined) return undefined;
  const directory = pointer === undefined ? path : resolve(dirname(path), pointer);
  const common = readText(join(directory, "commondir"));
  return { directory, common: common === undefined ? directory : resolve(directory, common) };
}

function kindOf(path: string): "file" | "directory" | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return "directory";
    return stat?.isFile() ? "file" : undefined;
  } catch {
    return undefined;
  }
}

function readRef(repository: Repository, ref: string, depth = 0): string | undefined {
  const loose = readText(join(repository.common, ref)) ?? readText(join(repository.directory, ref));
  if (loose !== undefined) {
    if (objectId.test(loose)) return loose;
    const next = symbolicRef(loose);
    return next === undefined || depth >= maximumDepth ? undefined : readRef(repository, next, depth + 1);
  }
  const packed = readText(join(repository.common, "packed-refs"), maximumPackedRefs);
  const line = packed?.split("\n").find((candidate) => candidate.endsWith(` ${ref}`));
  const commit = line?.slice(0, line.indexOf(" "));
  return commit !== undefined && objectId.test(commit) ? commit : undefined;
}

/** Only names that git itself would accept, because they become paths here. */
function symbolicRef(text: string): string | undefined {
  const ref = /^ref:\s*(\S+)$/.exec(text)?.[1];
  return ref !== undefined && isRefName(ref) ? ref : undefined;
}

function readText(path: string, maxBytes = maximumSmallFile): string | undefined {
  return fileText(path, maxBytes)?.trim();
}

const branchPrefix = "refs/heads/";
const originPrefix = "refs/remotes/origin/";
const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const maximumDepth = 5;
const maximumSmallFile = 4096;
const maximumPackedRefs = 64 * 1024 * 1024;
