import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";

/** The last guard, should a policy ever let a path through that lies elsewhere. Throws `outside_workspace`. */
export function insideOnly(path: WorkspacePath): WorkspacePath {
  if (path.inside) return path;
  throw new ToolFailure("outside_workspace", `${path.raw} lies outside the workspace.`, {
    failureClass: "permission_denied",
    hint: "Only files of the workspace can be reached.",
  });
}
