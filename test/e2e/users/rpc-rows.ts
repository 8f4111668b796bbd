/**
 * What each method is called with, on a session of the caller's own, and who may. `answers`: how it ends then, `ok` or the code
 * of an error that says something about the session's state, and so that the call got in.
 */
export interface RpcRow {
  readonly access: "session" | "session-or-own" | "own" | "admin";
  readonly request?: (sessionId: string) => Readonly<Record<string, unknown>>;
  readonly answers?: string;
}

const session = { access: "session" } as const;

/** By `Service.method`. */
export const rpcRows: Readonly<Record<string, RpcRow>> = {
  "AgentService.startSession": { access: "own" },
  "AgentService.clearSession": session,
  "AgentService.listScenarios": { access: "session-or-own" },
  "AgentService.invoke": { ...session, request: (sessionId) => ({ sessionId, userInput: "hello" }) },
  "AgentService.submitClientEvent": {
    ...session,
    request: (sessionId) => ({
      sessionId,
      event: { case: "confirmationResponse", value: { requestId: "11111111-1111-4111-8111-111111111111" } },
    }),
    answers: "not_found",
  },
  "AgentService.getTodos": session,
  "AgentService.writeTodos": session,
  "AgentService.getConversationPreview": session,
  "AgentService.setSettings": session,
  "AgentService.startTurn": {
    ...session,
    request: (sessionId) => ({ sessionId, userInput: "hello", clientTurnId: crypto.randomUUID() }),
  },
  "AgentService.subscribe": session,
  "AgentService.cancelTurn": session,
  "AgentService.stop": {
    access: "session-or-own",
    request: (sessionId) => ({ sessionId, scope: sessionId === "" ? 3 : 1 }),
  },
  "AgentService.listSessions": { access: "own" },
  "AgentService.resumeSession": session,
  "AgentService.forkSession": session,
  "AgentService.renameSession": { ...session, request: (sessionId) => ({ sessionId, title: "A title" }) },
  "AgentService.compactSession": session,
  "AgentService.setModelKey": { access: "own", request: () => ({ backend: 2, key: "sk-test-0000" }) },
  "AgentService.getServerInfo": { access: "own" },
  "AgentService.getBlob": {
    ...session,
    request: (sessionId) => ({ sessionId, sha256: "0".repeat(64) }),
    answers: "not_found",
  },
  "AgentService.undoChangeSet": { ...session, answers: "not_found" },
  "AgentService.listCheckpoints": session,
  "AgentService.restoreCheckpoint": {
    ...session,
    request: (sessionId) => ({ sessionId, checkpointId: "none" }),
    answers: "not_found",
  },
  "AgentService.applyProposal": {
    ...session,
    request: (sessionId) => ({ sessionId, proposalId: "none" }),
    answers: "not_found",
  },
  "AgentService.getWorkspaceState": session,
  "AgentService.prepareBranch": {
    ...session,
    request: (sessionId) => ({ sessionId, task: "a task" }),
    answers: "failed_precondition",
  },
  "AgentService.listPaths": { ...session, access: "session-or-own" },
  "GovernanceService.getGovernanceStatus": { access: "session-or-own" },
  "GovernanceService.setEmergencyControl": {
    access: "admin",
    request: () => ({ control: 1, enabled: false, reason: "test", by: "somebody else" }),
  },
  "GovernanceService.checkPolicy": {
    ...session,
    request: (sessionId) => ({ sessionId, tool: "Bash", argumentsJson: '{"command":"ls"}' }),
  },
  "GovernanceService.listIntents": { access: "session-or-own" },
  "GovernanceService.selectIntent": {
    ...session,
    request: (sessionId) => ({ sessionId, intentId: "none" }),
    answers: "failed_precondition",
  },
  "GovernanceService.previewSystemPrompt": session,
  "GovernanceService.listLedgerRecords": { access: "session-or-own" },
  "GovernanceService.verifyLedger": { access: "session-or-own" },
  "GovernanceService.getParity": { access: "admin" },
  "PlanService.submitPlan": { ...session, request: (sessionId) => ({ sessionId, text: "no plan" }) },
  "PlanService.previewPlan": {
    ...session,
    request: (sessionId) => ({ sessionId, planId: "none" }),
    answers: "not_found",
  },
  "PlanService.approvePlan": {
    ...session,
    request: (sessionId) => ({ sessionId, planId: "none" }),
    answers: "not_found",
  },
  "PlanService.executePlan": {
    ...session,
    request: (sessionId) => ({ sessionId, planId: "none" }),
    answers: "not_found",
  },
  "PlanService.verifyPlan": {
    ...session,
    request: (sessionId) => ({ sessionId, planId: "none" }),
    answers: "not_found",
  },
  "PlanService.getPlan": { ...session, request: (sessionId) => ({ sessionId, planId: "none" }), answers: "not_found" },
  "PlanService.listPlans": session,
};
