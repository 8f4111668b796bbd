import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";

/** The last guard, in case a policy ever allows a path outside of the workspace. Throws `outside_workspace`. */
export function insideOnly(path: WorkspacePath): WorkspacePath {
  if (path.inside) return path;
  throw new ToolFailure("outside_workspace", `${path.raw} lies outside the workspace.`, {
    failureClass: "permission_denied",
    hint: "Only files of the workspace can be reached.",
  });
}
