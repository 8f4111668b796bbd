import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { checkVisible } from "@gennai/machine/workspace/paths/path-syntax";

/**
 * The path as a client resolved it, if it is plausible: absolute and normal, and inside only if it is below the root. Policies
 * decide by these fields, so they must not contradict each other. Throws `client_error`, `bad_path`.
 * @param root absolute path of the workspace on the client's machine
 */
export function checkResolved(root: string, path: WorkspacePath): WorkspacePath {
  const { absolute, relative, inside } = path;
  const below = absolute === root ? "" : absolute.startsWith(`${root}/`) ? absolute.slice(root.length + 1) : undefined;
  const fits = inside ? below !== undefined && relative === below : below === undefined && relative === "";
  if (!fits || !isNormal(absolute)) {
    throw new ToolFailure("client_error", "The client that holds the files resolved a path to an impossible one.", {
      hint: "Tell the user: client and server may be of different versions.",
    });
  }
  checkVisible(inside ? relative : absolute);
  return path;
}

/** Absolute, with slashes, without empty, `.` or `..` components. */
export function isNormal(absolute: string): boolean {
  if (absolute === "/") return true;
  const [first, ...names] = absolute.split("/");
  return first === "" && names.every((name) => name !== "" && name !== "." && name !== "..");
}
