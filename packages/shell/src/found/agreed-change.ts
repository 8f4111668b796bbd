import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { globMatcher } from "@gennai/governance/glob-matcher";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import type { ControlPath } from "@gennai/governance/policies/files/control-paths";
import type { Entry } from "@gennai/machine/entries/look-at-entry";
import { isWithin } from "@gennai/protocol/is-within";

/** A file that controls tools, and that a command changed. */
export interface ControlChange {
  /** Absolute. */
  readonly path: string;
  /** Relative to the workspace. */
  readonly name: string;
  readonly control: ControlPath;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/** What is known about the tree around a change. */
export interface ChangeSurroundings {
  /** Real path of the workspace. */
  readonly root: string;
  /** Whether git tracks the file. */
  readonly isTracked: boolean;
  text(side: "before" | "after"): string | undefined;
}

/** Whether the person who let the command run agreed to this change. */
export function isAgreed(change: ControlChange, agreed: AgreedControl, around: ChangeSurroundings): boolean {
  return (
    isNamed(change, agreed, around) ||
    (agreed.gitMoves && agreed.gitAlone && (change.after === undefined || around.isTracked)) ||
    (agreed.installs && isInstalled(change, around)) ||
    agreed.manifests.some((name) => sameName(name, change.name)) ||
    (agreed.makefiles && /(?:^|\/)(?:gnu)?makefile$|\.mk$/i.test(change.name)) ||
    isProduct(change, around) ||
    saysTheSame(change, around, ["version"])
  );
}

function isNamed(
  { path, control, after, before }: ControlChange,
  { named }: AgreedControl,
  { root }: ChangeSurroundings,
): boolean {
  return named.some(({ absolute, access, pattern, keepsContent }) => {
    if (pattern === true)
      return access === "delete" && after === undefined && globMatcher(absolute, { noextglob: true })(path);
    if (keepsContent === true && (after?.type === "file" || before?.type === "file") && !sameBytes(before, after))
      return false;
    if (path === absolute) return true;
    // Only a directory was named: the agreement covers what is ordinary in it, and no more.
    if (!isWithin(path, { directory: absolute }) || isWithin(root, { directory: absolute })) return false;
    return control.level === "sensitive" || after === undefined || after.type === "directory";
  });
}

function sameBytes(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.type === "file" && other?.type === "file" && one.sha256 !== undefined && one.sha256 === other.sha256;
}

const dependencyFields = [
  ...["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"],
  ...["peerDependenciesMeta", "dependenciesMeta", "bundleDependencies", "version"],
];

function isInstalled(change: ControlChange, around: ChangeSurroundings): boolean {
  return /(?:^|\/)node_modules(?:\/|$)/.test(change.name) || saysTheSame(change, around, dependencyFields);
}

function sameName(name: string, path: string): boolean {
  return basename(path).toLowerCase() === name.toLowerCase();
}

/**
 * Names of directories of build products: their content comes from agreed sources, even where it looks like a source, and git
 * does not track it.
 */
const products =
  /(?:^|\/)(?:dist|build|out|target|coverage|obj|_build|\.next|\.nuxt|\.output|\.svelte-kit|\.cache|\.turbo|\.gradle|cmake-build-[^/]*|bazel-[^/]*)\//;

function isProduct({ name, control }: ControlChange, { isTracked }: ChangeSurroundings): boolean {
  if (control.level === "protected" || control.what === "instructions that agents follow") return false;
  return products.test(name) && !isTracked;
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
  const one = before === undefined ? {} : fieldsOf(around.text("before"), but);
  const other = fieldsOf(around.text("after"), but);
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
