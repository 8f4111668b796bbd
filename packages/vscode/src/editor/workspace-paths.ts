import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";
import { EditorError } from "./editor-error.ts";
import { isLink, realPathOf } from "./real-path.ts";

/** A path inside the workspace. */
export interface WorkspacePath {
  /** The path as it was given, with forward slashes: the key in requests and answers. */
  readonly name: string;
  /** Absolute, with links resolved: the file that a write changes. */
  readonly absolute: string;
  /** Real absolute path of the workspace. */
  readonly root: string;
}

/**
 * Resolves a path that a server named against the session's own folder. Refuses absolute paths, `..`, and links that lead out,
 * even into another folder of the same window: the session is governed for this one. The last parts need not exist. Rejects with
 * `EditorError` (`bad_path`, `outside_workspace`).
 */
export async function resolveInWorkspace(workspace: string, name: string): Promise<WorkspacePath> {
  refuseBadName(name);
  const root = await realPathOf(workspace);
  const absolute = await realPathOfNew(resolve(root, name));
  if (!isWithin(absolute, { directory: root })) throw outside(name);
  return { name, absolute, root };
}

/** Workspace path of an absolute one, with forward slashes; undefined if it is outside. */
export function nameInWorkspace(root: string, absolute: string): string | undefined {
  if (!isWithin(absolute, { directory: root })) return undefined;
  const name = relative(root, absolute).replaceAll(sep, "/");
  return name === "" ? "." : name;
}

/** Throws `EditorError` for a name that no request of a server may have. */
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

/** Resolves the links of the part that exists. */
async function realPathOfNew(path: string): Promise<string> {
  try {
    return await realPathOf(path);
  } catch (error) {
    if (hasCode(error, "ELOOP")) {
      throw new EditorError("outside_workspace", `${path} leads through a link.`, "Name a file.", { cause: error });
    }
    if (!hasCode(error, "ENOENT")) throw error;
    // A link to nothing: a write would go to wherever it points.
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
