import type { Policy } from "@gennai/governance/policy";
import { createRulesPolicy } from "@gennai/governance/rules/rules-policy";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import type { Session } from "../session/session.ts";
import { callPolicies } from "./call-policies.ts";

/**
 * The rules about paths and content that hold for whoever works in a session's workspace: those of rule files, of the project and of the
 * house. Throws `ServiceError` when the project's configuration cannot be read.
 */
export async function workspacePolicies({
  workspace,
  services,
}: Pick<Session, "workspace" | "services">): Promise<readonly Policy[]> {
  const { rules } = await services.governanceOf(workspace);
  return [
    createRulesPolicy(rules),
    ...callPolicies({
      workspaceRoot: workspace.root,
      controlRoot: workspace.controlRoot,
      config: await loadProjectConfig(workspace.controlRoot),
      ownDirectories: services.ownDirectories,
      rules,
    }),
  ];
}
