import type { WorkspacePath } from "@gennai/governance/effect";

/** A path as shown to users and models: relative to the workspace, `.` for its root, absolute outside. */
export function pathName(path: WorkspacePath): string {
  if (!path.inside) return path.absolute;
  return path.relative === "" ? "." : path.relative;
}
