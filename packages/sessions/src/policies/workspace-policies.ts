import type { Policy } from "@gennai/governance/policy";
import { createRulesPolicy } from "@gennai/governance/rules/rules-policy";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import type { Session } from "../session/session.ts";
import { callPolicies } from "./call-policies.ts";

/**
 * Rules about paths and content for every writer in a session's workspace: from rule files, the project and the built-in ones.
 * Throws `ServiceError` if the project's configuration cannot be read.
 */
export async function workspacePolicies({
  workspace,
  services,
}: Pick<Session, "workspace" | "services">): Promise<readonly Policy[]> {
  const { rules } = await services.governanceOf(workspace);
  return [
    createRulesPolicy(rules),
    ...callPolicies({
      workspace,
      config: await loadProjectConfig(workspace.controlRoot),
      ownDirectories: services.ownDirectories,
      rules,
    }),
  ];
}
