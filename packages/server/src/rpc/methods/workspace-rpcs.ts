import type { ServiceImpl } from "@connectrpc/connect";
import { readWorkspaceState } from "@gennai/git/workspace-state";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { ServiceError } from "@gennai/machine/service-error";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { branchChangeWords, gitStateWords } from "@gennai/protocol/model/session/repository-state";
import { heldByClient } from "@gennai/sessions/client-workspace/held-by-client";
import { listPaths } from "@gennai/sessions/context/list-paths";
import { firstSessionCommit } from "@gennai/sessions/manager/first-session-commit";
import { prepareSessionBranch } from "@gennai/sessions/manager/prepare-session-branch";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";

/** Characters of a task that may name a branch. */
const maxTaskCharacters = 100_000;

type WorkspaceRpcs = Pick<
  ServiceImpl<typeof AgentService>,
  "getWorkspaceState" | "prepareBranch" | "makeFirstCommit" | "listPaths"
>;

/** The files of a session's workspace, and what they are to git. */
export function workspaceRpcs(manager: SessionManager): WorkspaceRpcs {
  const { services } = manager;
  return {
    async getWorkspaceState({ sessionId }, { signal }) {
      const { workspace } = await manager.get(sessionId);
      if (workspace.client !== undefined) throw heldByClient("The state of its repository is known there.");
      const { protectedBranches } = await loadProjectConfig(workspace.root);
      const protect = [...(await services.protectedBranches()), ...protectedBranches];
      const state = await readWorkspaceState(workspace.root, { protect, signal });
      return {
        workingDir: workspace.root,
        git: gitStateWords.toMessage(state.git),
        branch: state.branch ?? "",
        commit: state.commit ?? "",
        dirty: state.changedFiles > 0,
        changedFiles: state.changedFiles,
        protectedBy: state.protectedBy ?? "",
      };
    },

    async prepareBranch({ sessionId, task, branch }, { signal }) {
      const session = await manager.get(sessionId);
      if (task.trim() === "" && branch === "") {
        throw new ServiceError("invalid_argument", "Say what the branch is for (task), or its name (branch).");
      }
      if (task.length > maxTaskCharacters) {
        throw new ServiceError("invalid_argument", `task has at most ${maxTaskCharacters} characters.`);
      }
      const prepared = await session.acts.during("a change of the branch", () =>
        prepareSessionBranch(session, { task, ...(branch === "" ? {} : { branch }) }, signal),
      );
      return { branch: prepared.name, change: branchChangeWords.toMessage(prepared.how) };
    },

    async makeFirstCommit({ sessionId, sha256 }, { signal }) {
      const session = await manager.get(sessionId);
      const planned = await session.acts.during("a first commit", () =>
        firstSessionCommit(session, { sha256, signal }),
      );
      if (planned === undefined) return { offered: false };
      const { files, leftOut, branch, commit } = planned;
      return {
        offered: true,
        files: [...files],
        fileCount: files.length,
        leftOut: [...leftOut],
        leftOutCount: leftOut.length,
        sha256: planned.sha256,
        commit,
        branch,
      };
    },

    async listPaths({ sessionId, workingDir, prefix, limit }, { signal }) {
      const workspace =
        sessionId === ""
          ? await manager.openWorkspace(workingDir, services.callers.current()?.user ?? "")
          : (await manager.get(sessionId)).workspace;
      const { paths, truncated } = await listPaths({ workspace, services }, prefix, { limit, signal });
      return { paths: [...paths], truncated };
    },
  };
}
