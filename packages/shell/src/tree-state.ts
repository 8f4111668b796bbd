import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { git } from "@gennai/git/run/run-git";
import { ServiceError } from "@gennai/machine/service-error";

/** An entry at a path, by the attributes that git compares. */
export interface FileState {
  readonly kind: "file" | "executable" | "link";
  /** Of the bytes, or of what a link says. */
  readonly sha256: string;
}

/** By path relative to the tree, with `/`. */
export type TreeState = ReadonlyMap<string, FileState>;

/** One path at which two states differ; undefined: there is no entry. */
export interface StateChange {
  readonly path: string;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
}

/** Files between two looks at the rest of the world. */
const filesPerBreath = 100;

/**
 * The state of all files that git tracks or would track. Rejects with `ServiceError` where git cannot say.
 * @param directory top of a working tree
 */
export async function readTreeState(directory: string, signal: AbortSignal): Promise<TreeState> {
  const listed = await git(["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { directory, signal });
  if (listed.code !== 0) {
    throw new ServiceError(
      "failed_precondition",
      `git could not list the files: ${listed.stderr.trim().slice(0, 300)}`,
    );
  }
  const state = new Map<string, FileState>();
  const real = new Map([[".", true]]);
  // A link in the place of a directory leads to what is not in the tree.
  const isReal = (way: string): boolean => {
    const known = real.get(way);
    if (known !== undefined) return known;
    const stat = isReal(dirname(way)) ? lstatSync(join(directory, way), { throwIfNoEntry: false }) : undefined;
    real.set(way, stat?.isDirectory() === true);
    return stat?.isDirectory() === true;
  };
  for (const [index, path] of listed.stdout.split("\0").entries()) {
    if (index % filesPerBreath === 0) await setImmediate();
    signal.throwIfAborted();
    const file = !isPlain(path) || !isReal(dirname(path)) ? undefined : fileState(join(directory, path));
    if (file !== undefined) state.set(path, file);
  }
  return state;
}

/** False for names that only a manipulated index can contain. */
function isPlain(path: string): boolean {
  return path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && name.toLowerCase() !== ".git");
}

/** Undefined if there is neither file nor link. */
function fileState(path: string): FileState | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() !== true && stat?.isFile() !== true) return undefined;
  const kind = stat.isFile() ? ((stat.mode & 0o100) === 0 ? "file" : "executable") : "link";
  return { kind, sha256: createHash("sha256").update(contentAt(path, kind)).digest("hex") };
}

/** The bytes of a file, or what a link says. */
export function contentAt(path: string, kind: FileState["kind"]): Buffer {
  return kind === "link" ? readlinkSync(path, { encoding: "buffer" }) : readFileSync(path);
}

/** In the order of their paths. */
export function changesBetween(before: TreeState, after: TreeState): readonly StateChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    return isSame(was, is) ? [] : [{ path, before: was, after: is }];
  });
}

function isSame(one: FileState | undefined, other: FileState | undefined): boolean {
  return one?.kind === other?.kind && one?.sha256 === other?.sha256;
}
