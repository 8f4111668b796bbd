import { ToolFailure } from "@gennai/governance/tool-error";
import { type GitHead, readGitHead } from "../git-data/git-head.ts";
import type { Workspace } from "./workspace.ts";

/** HEAD as far as it is known here, for records: `none` where a client holds the files and was not asked yet. */
export function knownHead(workspace: Pick<Workspace, "controlRoot">): GitHead {
  try {
    return readGitHead(workspace.controlRoot);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "workspace_unreachable") return { type: "none" };
    throw error;
  }
}
