import { intentContext } from "@gennai/governance/intents/intent-context";
import type { GovernanceServiceOptions } from "../rpc/governance-service.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { GovernanceRegistry } from "./workspace-governance.ts";

/** What people see and choose of intents, over the services of the workspaces. */
export function intentsPort(options: {
  open(root: string): Promise<Workspace>;
  readonly governance: GovernanceRegistry;
}): GovernanceServiceOptions["intents"] {
  return {
    async report({ session, workspaceRoot }) {
      const { intents } = await options.governance.of(session?.workspace ?? (await options.open(workspaceRoot)));
      const { mode, intents: all, problems } = await intents.status();
      return { mode, intents: all, warnings: problems, activeIntentId: session?.state.activeIntentId ?? "" };
    },
    async select(session, intentId) {
      const { intents } = await options.governance.of(session.workspace);
      const intent = await intents.selectable(intentId);
      await session.selectIntent(intent, intentContext(intent));
      return intent;
    },
  };
}
