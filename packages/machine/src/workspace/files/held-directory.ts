import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { basename, join, sep } from "node:path";
import { promisify } from "node:util";
import { ToolFailure } from "@gennai/governance/tool-error";
import { systemErrorCode } from "../../system-error.ts";
import { checkRootInPlace, checkSameRoot, type WorkspaceRoot } from "../paths/workspace-root.ts";

/**
 * Opens a directory below the root and keeps hold of it.
 *
 * On Linux each component is opened below the one before, refusing links, so nobody can swap a parent for a link between the
 * check and the use. Elsewhere there is no such call in Node: the real path is compared when the directory is opened and
 * again by `check`, right before each change. That leaves a window of microseconds, which the operating system's sandbox
 * has to cover.
 *
 * Throws system errors (`ENOENT`, `ENOTDIR` for a link or a file, `EACCES`), and `workspace_replaced`.
 *
 * @param components names below the root, from `WorkspacePath.relative`
 * @param options.create makes directories that are missing
 */
export function holdDirectory(
  root: WorkspaceRoot,
  components: readonly string[],
  options: { readonly create?: boolean } = {},
): HeldDirectory {
  for (const name of components) checkName(name);
  return hasDescriptorPaths ? walk(openRoot(root), components, options) : openByPath(root, components, options);
}

/**
 * Holds a directory given by its real path, if no link leads to it. Throws `path_changed` if the path is or passes a link, and
 * system errors.
 */
export function holdRealDirectory(
  path: string,
  components: readonly string[],
  options: { readonly create?: boolean } = {},
): HeldDirectory {
  for (const name of components) checkName(name);
  if (!hasDescriptorPaths) {
    const { dev, ino } = lstatSync(path);
    return openByPath({ path, device: dev, inode: ino }, components, options);
  }
  return walk(openReal(path), components, options);
}

/** A directory that stays the same even if its path comes to name another one. The holder closes it. */
export class HeldDirectory implements Disposable {
  readonly #base: string;
  readonly #descriptor: number | undefined;
  readonly #check: (() => void) | undefined;

  constructor(base: string, descriptor: number | undefined, check?: () => void) {
    this.#base = base;
    this.#descriptor = descriptor;
    this.#check = check;
  }

  /** A path of the directory itself, for `readdir` or as a working directory. */
  get path(): string {
    return this.#base;
  }

  /** Path by which system calls reach an entry. The entry itself may be a link: open it with `O_NOFOLLOW`. */
  entry(name: string): string {
    checkName(name);
    return this.#base + sep + name;
  }

  /** Throws `path_changed` if the path no longer leads here, on systems where directories cannot be held. */
  check(): void {
    this.#check?.();
  }

  /** Makes renames and new names in it durable. */
  async sync(): Promise<void> {
    // Windows cannot sync a directory; its file systems journal names themselves.
    if (this.#descriptor !== undefined) await fsyncAsync(this.#descriptor);
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** @param start descriptor of a directory; closed here */
function walk(start: number, components: readonly string[], options: { readonly create?: boolean }): HeldDirectory {
  let descriptor = start;
  try {
    for (const name of components) {
      const next = openBelow(`/proc/self/fd/${descriptor}/${name}`, options.create ?? false);
      closeSync(descriptor);
      descriptor = next;
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return new HeldDirectory(`/proc/self/fd/${descriptor}`, descriptor);
}

function openRoot(root: WorkspaceRoot): number {
  let descriptor: number;
  try {
    descriptor = openSync(root.path, directoryFlags);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") checkSameRoot(root, undefined);
    throw error;
  }
  try {
    checkSameRoot(root, fstatSync(descriptor));
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

function openReal(path: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, directoryFlags);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ELOOP" || (code === "ENOTDIR" && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())) {
      throw pathChanged(path);
    }
    throw error;
  }
  // The kernel gives the real path, so that a link anywhere in the path shows.
  if (readlinkSync(`/proc/self/fd/${descriptor}`) === path) return descriptor;
  closeSync(descriptor);
  throw pathChanged(path);
}

function openBelow(path: string, create: boolean): number {
  try {
    return openSync(path, directoryFlags);
  } catch (error) {
    const code = systemErrorCode(error);
    if (create && code === "ENOENT") {
      makeDirectory(path);
      return openSync(path, directoryFlags);
    }
    if (code === "ENOTDIR" && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw pathChanged(path);
    throw error;
  }
}

function openByPath(
  root: WorkspaceRoot,
  components: readonly string[],
  options: { readonly create?: boolean },
): HeldDirectory {
  const check = (path: string): void => {
    checkRootInPlace(root);
    if (realpathSync.native(path) === path) return;
    throw pathChanged(path);
  };
  let path = root.path;
  check(path);
  for (const name of components) {
    path = join(path, name);
    if (options.create && !existsSync(path)) makeDirectory(path);
    check(path);
  }
  if (process.platform === "win32") return new HeldDirectory(path, undefined, () => check(path));
  return new HeldDirectory(path, openSync(path, directoryFlags), () => check(path));
}

function pathChanged(path: string): ToolFailure {
  return new ToolFailure(
    "path_changed",
    `The directory ${basename(path)} leads elsewhere since the path was resolved.`,
    {
      failureClass: "permission_denied",
      hint: "Somebody replaced it meanwhile, e.g. by a symbolic link. Try again.",
      retryable: true,
    },
  );
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}

function checkName(name: string): void {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) {
    throw new ToolFailure("bad_path", `"${name}" is not a name of a file.`);
  }
}

const directoryFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const hasDescriptorPaths = process.platform === "linux" && existsSync("/proc/self/fd");
const fsyncAsync = promisify(fsync);
