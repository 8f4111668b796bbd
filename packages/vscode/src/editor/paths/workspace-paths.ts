import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { EditorError } from "../editor-error.ts";
import { isLink, realPathOf } from "./real-path.ts";

/** A place inside the workspace. */
export interface WorkspacePath {
  /** The path as it was named, with forward slashes: the key in requests and answers. */
  readonly name: string;
  /** Absolute, links followed: where a write lands. */
  readonly absolute: string;
  /** Real absolute path of the workspace. */
  readonly root: string;
}

/**
 * Resolves a path a server names against the session's own folder. Absolute paths, `..`, and links that lead out are refused,
 * also into another folder of the same window: the session is governed for this one. The last parts may not exist yet.
 * Throws `EditorError` (`bad_path`, `outside_workspace`).
 */
export async function resolveInWorkspace(workspace: string, name: string): Promise<WorkspacePath> {
  refuseBadName(name);
  const root = await realPathOf(workspace);
  const absolute = await realPathOfNew(resolve(root, name));
  if (!isInside(root, absolute)) throw outside(name);
  return { name, absolute, root };
}

/** True for the folder itself and everything below it. Both absolute and normal. */
export function isInside(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** Workspace path of an absolute one, with forward slashes; undefined when it lies outside. */
export function nameInWorkspace(root: string, absolute: string): string | undefined {
  if (!isInside(root, absolute)) return undefined;
  const name = relative(root, absolute).replaceAll(sep, "/");
  return name === "" ? "." : name;
}

/** Throws `EditorError` for a name that no request of a server has. */
function refuseBadName(name: string): void {
  if (name === "" || name.length > 4096 || /\p{Cc}/u.test(name)) {
    throw new EditorError(
      "bad_path",
      `${JSON.stringify(name.slice(0, 100))} is not a path.`,
      "Name a file of the workspace.",
    );
  }
  const isRooted =
    isAbsolute(name) || /^[a-z]:/i.test(name) || /^[\\/~]/.test(name) || /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
  if (isRooted || name.split(/[\\/]/).includes("..")) throw outside(name);
}

function outside(name: string): EditorError {
  return new EditorError(
    "outside_workspace",
    `${name} is outside the workspace.`,
    "Name a file by its path relative to the workspace.",
  );
}

/** Follows the links of what exists. */
async function realPathOfNew(path: string): Promise<string> {
  try {
    return await realPathOf(path);
  } catch (error) {
    if (hasCode(error, "ELOOP")) {
      throw new EditorError("outside_workspace", `${path} leads through a link.`, "Name a file.", { cause: error });
    }
    if (!hasCode(error, "ENOENT")) throw error;
    // A link to nothing would be written through, to wherever it points.
    if (await isLink(path)) {
      throw new EditorError("outside_workspace", `${path} is a link that leads nowhere.`, "Name a file.", {
        cause: error,
      });
    }
    const parent = dirname(path);
    if (parent === path) throw error;
    return join(await realPathOfNew(parent), basename(path));
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
