import { basename, dirname, join } from "node:path";

/** Directory beside a workspace, for the copies in which one prompt is tried. @param id eight hexadecimal digits */
export function attemptsPlace(workspace: string, id: string): string {
  return join(dirname(workspace), `.gennai-attempts-${id}`);
}

/** Whether a directory is or was such a copy of the workspace: what was done there is forgotten with the workspace. */
export function isAttemptCopy(directory: string, workspace: string): boolean {
  const place = dirname(dirname(directory));
  const id = /^\.gennai-attempts-([0-9a-f]{8})$/.exec(basename(place))?.[1];
  return id !== undefined && place === attemptsPlace(workspace, id) && basename(directory) === basename(workspace);
}
