import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

/**
 * Who may call a method, on a server with many users:
 * - `session`: it names a session, which must be the caller's own, or one of the tenant for its admins
 * - `session-or-own`: the same; without a session it is about what every user has or may know
 * - `own`: about what the caller has; the method itself looks at nothing of others
 * - `admin`: for admins of the tenant
 */
export type RpcAccess = "session" | "session-or-own" | "own" | "admin";

/** A method that is not here does not compile. */
type AccessOf<Service extends { readonly method: object }> = Readonly<Record<keyof Service["method"], RpcAccess>>;

const agent: AccessOf<typeof AgentService> = {
  startSession: "own",
  clearSession: "session",
  listScenarios: "session-or-own",
  invoke: "session",
  submitClientEvent: "session",
  getTodos: "session",
  writeTodos: "session",
  getConversationPreview: "session",
  setSettings: "session",
  startTurn: "session",
  subscribe: "session",
  cancelTurn: "session",
  stop: "session-or-own",
  listSessions: "own",
  resumeSession: "session",
  forkSession: "session",
  renameSession: "session",
  compactSession: "session",
  setModelKey: "own",
  getServerInfo: "own",
  getBlob: "session",
  undoChangeSet: "session",
  listCheckpoints: "session",
  restoreCheckpoint: "session",
  applyProposal: "session",
  getWorkspaceState: "session",
  prepareBranch: "session",
  listPaths: "session-or-own",
};

const governance: AccessOf<typeof GovernanceService> = {
  getGovernanceStatus: "session-or-own",
  setEmergencyControl: "admin",
  checkPolicy: "session",
  listIntents: "session-or-own",
  selectIntent: "session",
  previewSystemPrompt: "session",
  listLedgerRecords: "session-or-own",
  verifyLedger: "session-or-own",
  getParity: "admin",
};

const plans: AccessOf<typeof PlanService> = {
  submitPlan: "session",
  previewPlan: "session",
  approvePlan: "session",
  executePlan: "session",
  verifyPlan: "session",
  getPlan: "session",
  listPlans: "session",
};

const access: ReadonlyMap<string, RpcAccess> = new Map(
  [[AgentService, agent] as const, [GovernanceService, governance] as const, [PlanService, plans] as const].flatMap(
    ([service, table]) =>
      Object.entries(table).map(([name, wanted]) => [`${service.typeName}/${name}`, wanted] as const),
  ),
);

/** undefined for a method that nobody thought about: then nobody may call it. */
export function accessOf(method: DescMethod): RpcAccess | undefined {
  return access.get(`${method.parent.typeName}/${method.localName}`);
}
