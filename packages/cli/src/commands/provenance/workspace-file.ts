import { lstat, readFile, realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { CliError, usageError } from "../../terminal/cli-error.ts";

/** Largest file that is read; bytes. */
const maxBytes = 8 * 1024 * 1024;

export interface WorkspaceText {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly text: string;
}

/**
 * A text file of the workspace. Throws `CliError` for one outside it, a link that leads out, and non-text.
 * @param named absolute, or relative to the workspace as with `git -C`, independent of the working directory
 */
export async function readWorkspaceText(named: string, workspaceRoot: string): Promise<WorkspaceText> {
  const file = await realpath(resolve(workspaceRoot, named)).catch((error: unknown) => {
    throw new CliError(`There is no file ${named} in ${workspaceRoot}.`, {
      next: ["Name a text file of the workspace, by its path from there."],
      cause: error,
    });
  });
  const path = relative(workspaceRoot, file).split(sep).join("/");
  if (path === "" || path.startsWith("../") || path === ".." || resolve(workspaceRoot, path) !== file) {
    throw usageError(`${named} is not in the workspace ${workspaceRoot}.`, "Name the workspace with --workspace.");
  }
  const found = await lstat(file);
  if (!found.isFile()) throw usageError(`${named} is not a file.`, "Name a text file of the workspace.");
  if (found.size > maxBytes) throw new CliError(`${named} is larger than ${maxBytes} bytes.`, { next: [] });
  const bytes = await readFile(file);
  if (bytes.includes(0)) throw new CliError(`${named} is not text.`, { next: [] });
  return { path, text: bytes.toString("utf8") };
}
