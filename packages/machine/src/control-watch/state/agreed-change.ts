import { isDeepStrictEqual } from "node:util";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import type { ControlPath } from "@gennai/governance/policies/files/control-paths";
import picomatch from "picomatch";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import type { ControlState } from "./control-state.ts";

/** A control file that changed. */
export interface ControlChange {
  /** Absolute. */
  readonly path: string;
  /** Relative to the tree it was found in. */
  readonly name: string;
  readonly control: ControlPath;
  /** Path in git's directory; undefined for a file outside of it. */
  readonly inGit: string | undefined;
  readonly before: ControlState | undefined;
  readonly after: ControlState | undefined;
}

/** What is known about the tree around a change. */
export interface ChangeSurroundings {
  readonly root: string;
  /** Absolute paths of repositories (their `.git`) that came into being. */
  readonly newRepositories: readonly string[];
  /** Whether some control file had these bytes before. */
  wasThere(state: ControlState): boolean;
  /** Whether git tracked the path before or does now. */
  isTracked(path: string): boolean;
  /** Whether the path's present content equals git's index. */
  isAsInIndex(path: string, state: ControlState | undefined): boolean;
  text(state: ControlState | undefined): string | undefined;
}

/** Whether the person who let the command run agreed to this change. */
export function isAgreed(change: ControlChange, agreed: AgreedControl, around: ChangeSurroundings): boolean {
  const { inGit } = change;
  if (agreed.newRepository && around.newRepositories.some((git) => isWithin(change.path, git.replace(/\/\.git$/, ""))))
    return true;
  if (inGit !== undefined) return isAgreedInGit(inGit, change, agreed, around);
  return (
    isNamed(change, agreed, around) ||
    isMovedByGit(change, agreed, around) ||
    (agreed.installs && isInstalled(change, around)) ||
    (agreed.manifests && manifest.test(change.name)) ||
    (agreed.makefiles && /(?:^|\/)(?:gnu)?makefile$|\.mk$/i.test(change.name)) ||
    isProduct(change, around) ||
    saysTheSame(change, around, ["version"])
  );
}

const refs = /^(?:worktrees\/[^/]+\/)?reftable(?:\/|$)/;
const ownState = /^(?:rebase-merge|rebase-apply|sequencer)(?:\/|$)/;

function isAgreedInGit(
  inGit: string,
  { before, after }: ControlChange,
  { git, gitMoves, gitState, gitCommits, gitNames }: AgreedControl,
  around: ChangeSurroundings,
): boolean {
  if (refs.test(inGit)) return gitState || gitMoves || gitCommits || gitNames.length > 0;
  const isState = ownState.test(inGit);
  if (gitState) return isState || /^(?:config|config\.worktree|modules|worktrees)(?:\/|$)/.test(inGit);
  if (!isState) return false;
  // Git removes the state of an operation when it is done.
  if (after === undefined) return git === "alone";
  return git === "beside" && gitMoves && before?.type !== "link" && !/^\s*(?:x|exec)\b/m.test(around.text(after) ?? "");
}

function isNamed(
  { path, control, after, before }: ControlChange,
  { named }: AgreedControl,
  around: ChangeSurroundings,
): boolean {
  return named.some(({ absolute, access, pattern, keepsContent }) => {
    if (pattern === true) return access === "delete" && after === undefined && picomatch(absolute, { dot: true })(path);
    if (keepsContent === true && (after?.type === "file" || before?.type === "file") && !sameBytes(before, after))
      return false;
    if (path === absolute) return true;
    // Only a directory was named: the agreement covers what is ordinary in it, and no more.
    if (!isWithin(path, absolute) || isWithin(around.root, absolute)) return false;
    return control.level === "sensitive" || after === undefined || after.type === "directory" || around.wasThere(after);
  });
}

function sameBytes(one: ControlState | undefined, other: ControlState | undefined): boolean {
  return one?.type === "file" && other?.type === "file" && one.sha256 === other.sha256;
}

function isMovedByGit(
  { path, after }: ControlChange,
  { git, gitMoves }: AgreedControl,
  around: ChangeSurroundings,
): boolean {
  if (!gitMoves) return false;
  if (after?.type === "directory") return true;
  if (git === "alone") return after === undefined || around.isTracked(path);
  return around.isTracked(path) && around.isAsInIndex(path, after);
}

const dependencyFields = [
  ...["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"],
  ...["peerDependenciesMeta", "dependenciesMeta", "bundleDependencies", "version"],
];

function isInstalled(change: ControlChange, around: ChangeSurroundings): boolean {
  return /(?:^|\/)node_modules(?:\/|$)/.test(change.name) || saysTheSame(change, around, dependencyFields);
}

const manifest = /(?:^|\/)(?:package\.json|composer\.json|deno\.jsonc?|pyproject\.toml|gemfile)$/i;

/**
 * Names of directories of build products: their content comes from agreed sources, even where it looks like a source, and git
 * does not track it.
 */
const products =
  /(?:^|\/)(?:dist|build|out|target|coverage|obj|_build|\.next|\.nuxt|\.output|\.svelte-kit|\.cache|\.turbo|\.gradle|cmake-build-[^/]*|bazel-[^/]*)\//;

function isProduct({ name, path, control }: ControlChange, around: ChangeSurroundings): boolean {
  if (control.level === "protected" || control.what === "instructions that agents follow") return false;
  return products.test(name) && !around.isTracked(path);
}

/** For package.json: whether only these fields, or the formatting, differ. */
function saysTheSame(
  { name, before, after }: ControlChange,
  around: ChangeSurroundings,
  but: readonly string[],
): boolean {
  if (!/(?:^|\/)package\.json$/.test(name)) return false;
  if (after?.type !== "file" || (before !== undefined && (before.type !== "file" || before.mode !== after.mode)))
    return false;
  const one = before === undefined ? {} : fieldsOf(around.text(before), but);
  const other = fieldsOf(around.text(after), but);
  return one !== undefined && other !== undefined && isDeepStrictEqual(one, other);
}

function fieldsOf(text: string | undefined, but: readonly string[]): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value).filter(([key]) => !but.includes(key)));
  } catch {
    return undefined;
  }
}
