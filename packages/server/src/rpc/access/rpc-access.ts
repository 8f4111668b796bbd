import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

/**
 * Who may call a method, on a server with several users:
 * - `session`: it names a session, which must be the caller's own
 * - `overseen`: the same, or any session of the tenant for its admins, who may see and stop others' work
 * - `overseen-or-own`: the same; without a session it is about what every user has or may know
 * - `own`: about the caller's own data; the method itself reads nothing of others
 * - `admin`: for admins of the tenant
 */
export type RpcAccess = "session" | "overseen" | "overseen-or-own" | "own" | "admin";

/** A missing method does not compile. */
type AccessOf<Service extends { readonly method: object }> = Readonly<Record<keyof Service["method"], RpcAccess>>;

const agent: AccessOf<typeof AgentService> = {
  startSession: "own",
  clearSession: "session",
  listScenarios: "overseen-or-own",
  invoke: "session",
  submitClientEvent: "session",
  waitForAnswer: "session",
  getTodos: "overseen",
  writeTodos: "session",
  getConversationPreview: "overseen",
  setSettings: "session",
  startTurn: "session",
  queueMessage: "session",
  withdrawMessage: "session",
  subscribe: "overseen",
  cancelTurn: "overseen",
  stopToolCall: "overseen",
  stop: "overseen-or-own",
  listSessions: "own",
  resumeSession: "overseen",
  forkSession: "session",
  renameSession: "session",
  deleteSession: "session",
  compactSession: "session",
  setModelKey: "own",
  listModels: "own",
  tryModel: "own",
  getServerInfo: "own",
  getBlob: "overseen",
  undoChangeSet: "session",
  listCheckpoints: "overseen",
  restoreCheckpoint: "session",
  listLayer: "overseen",
  keepLayer: "session",
  dropLayer: "session",
  applyProposal: "session",
  getWorkspaceState: "overseen",
  prepareBranch: "session",
  makeFirstCommit: "session",
  listPaths: "overseen-or-own",
  listBackgroundRuns: "overseen",
  readBackgroundRun: "overseen",
  stopBackgroundRun: "overseen",
  openBackgroundPort: "session",
  startAttempts: "session",
  listAttempts: "overseen",
  stopAttempts: "overseen",
  takeAttempt: "session",
  dropAttempts: "session",
  getAttemptContent: "overseen",
};

const governance: AccessOf<typeof GovernanceService> = {
  getGovernanceStatus: "overseen-or-own",
  setEmergencyControl: "admin",
  checkPolicy: "session",
  listIntents: "overseen-or-own",
  selectIntent: "session",
  setIntentsMode: "admin",
  acceptIntents: "admin",
  previewSystemPrompt: "overseen",
  listLedgerRecords: "overseen-or-own",
  verifyLedger: "overseen-or-own",
  getParity: "admin",
  listStandingAnswers: "overseen-or-own",
  revokeStandingAnswers: "overseen-or-own",
  listMcpServers: "overseen-or-own",
  acceptMcpServer: "session",
  logInAtMcpServer: "session",
  listRules: "overseen-or-own",
  guardCall: "own",
  traceLines: "overseen-or-own",
  traceCall: "overseen",
};

const plans: AccessOf<typeof PlanService> = {
  submitPlan: "session",
  previewPlan: "session",
  approvePlan: "session",
  executePlan: "session",
  verifyPlan: "session",
  getPlan: "overseen",
  listPlans: "overseen",
};

const access: ReadonlyMap<string, RpcAccess> = new Map(
  [[AgentService, agent] as const, [GovernanceService, governance] as const, [PlanService, plans] as const].flatMap(
    ([service, table]) =>
      Object.entries(table).map(([name, wanted]) => [`${service.typeName}/${name}`, wanted] as const),
  ),
);

/** Undefined for an unlisted method: it may not be called. */
export function accessOf(method: DescMethod): RpcAccess | undefined {
  return access.get(`${method.parent.typeName}/${method.localName}`);
}
