import { ToolFailure } from "@gennai/governance/tool-error";
import { type GitHead, readGitHead } from "../git-data/git-head.ts";
import type { Workspace } from "./workspace.ts";

/** HEAD as known here, for records: `none` if a client holds the files and was not asked yet. */
export function knownHead(workspace: Pick<Workspace, "controlRoot">): GitHead {
  try {
    return readGitHead(workspace.controlRoot);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "workspace_unreachable") return { type: "none" };
    throw error;
  }
}
