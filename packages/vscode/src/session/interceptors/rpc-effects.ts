import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

/**
 * The effect of a call, for windows that only watch:
 * - `look`: it changes nothing of a session, its files or its rules
 * - `stop`: it ends or forbids work
 * - `act`: everything else
 */
export type RpcEffect = "look" | "stop" | "act";

/** Every method must be listed, or it does not compile. */
type EffectsOf<Service extends { readonly method: object }> = Readonly<Record<keyof Service["method"], RpcEffect>>;

const agent: EffectsOf<typeof AgentService> = {
  startSession: "act",
  clearSession: "act",
  listScenarios: "look",
  invoke: "act",
  submitClientEvent: "act",
  waitForAnswer: "act",
  getTodos: "look",
  writeTodos: "act",
  getConversationPreview: "look",
  setSettings: "act",
  startTurn: "act",
  queueMessage: "act",
  withdrawMessage: "act",
  subscribe: "look",
  cancelTurn: "stop",
  stopToolCall: "stop",
  stop: "stop",
  listSessions: "look",
  resumeSession: "look",
  forkSession: "act",
  renameSession: "act",
  deleteSession: "act",
  compactSession: "act",
  setModelKey: "act",
  listModels: "look",
  tryModel: "act",
  getServerInfo: "look",
  getBlob: "look",
  undoChangeSet: "act",
  listCheckpoints: "look",
  restoreCheckpoint: "act",
  listLayer: "look",
  keepLayer: "act",
  dropLayer: "act",
  applyProposal: "act",
  getWorkspaceState: "look",
  prepareBranch: "act",
  makeFirstCommit: "act",
  listPaths: "look",
  listBackgroundRuns: "look",
  readBackgroundRun: "look",
  stopBackgroundRun: "stop",
  openBackgroundPort: "act",
  startAttempts: "act",
  listAttempts: "look",
  stopAttempts: "stop",
  takeAttempt: "act",
  dropAttempts: "act",
  getAttemptContent: "look",
};

const governance: EffectsOf<typeof GovernanceService> = {
  getGovernanceStatus: "look",
  setEmergencyControl: "stop",
  checkPolicy: "look",
  listIntents: "look",
  selectIntent: "act",
  previewSystemPrompt: "look",
  listLedgerRecords: "look",
  verifyLedger: "look",
  setIntentsMode: "act",
  getParity: "look",
  acceptIntents: "act",
  listStandingAnswers: "look",
  revokeStandingAnswers: "act",
  listMcpServers: "look",
  acceptMcpServer: "act",
  logInAtMcpServer: "act",
  listRules: "look",
  guardCall: "act",
  traceLines: "look",
  traceCall: "look",
};

const plans: EffectsOf<typeof PlanService> = {
  submitPlan: "act",
  previewPlan: "act",
  approvePlan: "act",
  executePlan: "act",
  verifyPlan: "act",
  getPlan: "look",
  listPlans: "look",
};

const effects: ReadonlyMap<string, RpcEffect> = new Map(
  [[AgentService, agent] as const, [GovernanceService, governance] as const, [PlanService, plans] as const].flatMap(
    ([service, table]) =>
      Object.entries(table).map(([name, effect]) => [`${service.typeName}/${name}`, effect] as const),
  ),
);

/** An unknown method counts as `act`. */
export function effectOf(method: DescMethod): RpcEffect {
  return effects.get(`${method.parent.typeName}/${method.localName}`) ?? "act";
}
