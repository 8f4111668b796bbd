/**
 * What each method is called with, on a session of the caller's own, and who may. `answers`: how it ends then, `ok` or the code
 * of an error that says something about the session's state, and so that the call got in.
 */
export interface RpcRow {
  readonly access: "session" | "overseen" | "overseen-or-own" | "own" | "admin" | "approver";
  readonly request?: (sessionId: string) => Readonly<Record<string, unknown>>;
  readonly answers?: string;
}

const session = { access: "session" } as const;
const overseen = { access: "overseen" } as const;

/** By `Service.method`. */
export const rpcRows: Readonly<Record<string, RpcRow>> = {
  "AgentService.startSession": { access: "own" },
  "AgentService.clearSession": session,
  "AgentService.listScenarios": { access: "overseen-or-own" },
  "AgentService.invoke": { ...session, request: (sessionId) => ({ sessionId, userInput: "hello" }) },
  "AgentService.submitClientEvent": {
    ...session,
    request: (sessionId) => ({
      sessionId,
      event: { case: "confirmationResponse", value: { requestId: "11111111-1111-4111-8111-111111111111" } },
    }),
    answers: "not_found",
  },
  "AgentService.waitForAnswer": {
    ...session,
    request: (sessionId) => ({ sessionId, requestId: "11111111-1111-4111-8111-111111111111" }),
    answers: "not_found",
  },
  "AgentService.getTodos": overseen,
  "AgentService.writeTodos": session,
  "AgentService.getConversationPreview": overseen,
  "AgentService.setSettings": session,
  "AgentService.startTurn": {
    ...session,
    request: (sessionId) => ({ sessionId, userInput: "hello", clientTurnId: crypto.randomUUID() }),
  },
  "AgentService.queueMessage": {
    ...session,
    request: (sessionId) => ({ sessionId, messageId: crypto.randomUUID(), text: "and that" }),
    answers: "failed_precondition",
  },
  "AgentService.withdrawMessage": {
    ...session,
    request: (sessionId) => ({ sessionId, messageId: "none" }),
    answers: "not_found",
  },
  "AgentService.subscribe": overseen,
  "AgentService.cancelTurn": overseen,
  "AgentService.stopToolCall": overseen,
  "AgentService.stop": {
    access: "overseen-or-own",
    request: (sessionId) => ({ sessionId, scope: sessionId === "" ? 3 : 1 }),
  },
  "AgentService.listSessions": { access: "own" },
  "AgentService.resumeSession": overseen,
  "AgentService.forkSession": session,
  "AgentService.renameSession": { ...session, request: (sessionId) => ({ sessionId, title: "A title" }) },
  "AgentService.deleteSession": session,
  "AgentService.compactSession": session,
  "AgentService.setModelKey": { access: "own", request: () => ({ backend: 2, key: "sk-test-0000" }) },
  "AgentService.listModels": { access: "own" },
  "AgentService.tryModel": { access: "own", request: () => ({ backend: 2 }), answers: "invalid_argument" },
  "AgentService.getServerInfo": { access: "own" },
  "AgentService.getBlob": {
    ...overseen,
    request: (sessionId) => ({ sessionId, sha256: "0".repeat(64) }),
    answers: "not_found",
  },
  "AgentService.undoChangeSet": { ...session, answers: "not_found" },
  "AgentService.listCheckpoints": overseen,
  "AgentService.restoreCheckpoint": {
    ...session,
    request: (sessionId) => ({ sessionId, checkpointId: "none" }),
    answers: "not_found",
  },
  "AgentService.listLayer": overseen,
  "AgentService.keepLayer": {
    ...session,
    request: (sessionId) => ({ sessionId, paths: ["dist"] }),
    answers: "not_found",
  },
  "AgentService.dropLayer": session,
  "AgentService.applyProposal": {
    ...session,
    request: (sessionId) => ({ sessionId, proposalId: "none" }),
    answers: "not_found",
  },
  "AgentService.getWorkspaceState": overseen,
  "AgentService.listBackgroundRuns": overseen,
  "AgentService.readBackgroundRun": { ...overseen, answers: "not_found" },
  "AgentService.stopBackgroundRun": { ...overseen, answers: "not_found" },
  "AgentService.openBackgroundPort": {
    ...session,
    request: (sessionId) => ({ sessionId, runId: "none", port: 80 }),
    answers: "not_found",
  },
  "AgentService.prepareBranch": {
    ...session,
    request: (sessionId) => ({ sessionId, task: "a task" }),
    answers: "failed_precondition",
  },
  "AgentService.makeFirstCommit": session,
  "AgentService.listPaths": { ...session, access: "overseen-or-own" },
  "AgentService.startAttempts": {
    ...session,
    request: (sessionId) => ({ sessionId, clientAttemptsId: crypto.randomUUID(), userInput: "hello", count: 2 }),
    answers: "failed_precondition",
  },
  "AgentService.listAttempts": overseen,
  "AgentService.stopAttempts": {
    ...overseen,
    request: (sessionId) => ({ sessionId, attemptsId: "none" }),
    answers: "not_found",
  },
  "AgentService.takeAttempt": {
    ...session,
    request: (sessionId) => ({ sessionId, attemptsId: "none", number: 1 }),
    answers: "not_found",
  },
  "AgentService.dropAttempts": {
    ...session,
    request: (sessionId) => ({ sessionId, attemptsId: "none" }),
    answers: "not_found",
  },
  "AgentService.getAttemptContent": {
    ...overseen,
    request: (sessionId) => ({ sessionId, attemptsId: "none", sha256: "0".repeat(64) }),
    answers: "not_found",
  },
  "GovernanceService.getGovernanceStatus": { access: "overseen-or-own" },
  "GovernanceService.setEmergencyControl": {
    access: "admin",
    request: () => ({ control: 1, enabled: false, reason: "test", by: "somebody else" }),
  },
  "GovernanceService.checkPolicy": {
    ...session,
    request: (sessionId) => ({ sessionId, tool: "Bash", argumentsJson: '{"command":"ls"}' }),
  },
  "GovernanceService.listRules": { access: "overseen-or-own" },
  "GovernanceService.guardCall": {
    access: "own",
    request: () => ({ host: "claude-code", payload: { session_id: "s", hook_event_name: "Notification" } }),
  },
  "GovernanceService.traceLines": {
    access: "overseen-or-own",
    request: (sessionId) => ({ sessionId, path: "README.md", text: "one line\n" }),
  },
  "GovernanceService.traceCall": {
    ...overseen,
    request: (sessionId) => ({ sessionId, turnId: "none", callId: "none" }),
  },
  "GovernanceService.listApprovals": { access: "approver" },
  "GovernanceService.answerApproval": {
    access: "approver",
    request: () => ({ response: { requestId: "none" } }),
    answers: "failed_precondition",
  },
  "GovernanceService.listIntents": { access: "overseen-or-own" },
  "GovernanceService.selectIntent": {
    ...session,
    request: (sessionId) => ({ sessionId, intentId: "none" }),
    answers: "failed_precondition",
  },
  "GovernanceService.setIntentsMode": {
    access: "admin",
    request: (sessionId) => ({ sessionId, mode: 1 }),
    answers: "not_found",
  },
  "GovernanceService.acceptIntents": {
    access: "admin",
    request: (sessionId) => ({ sessionId, sha256: "none" }),
    answers: "not_found",
  },
  "GovernanceService.listStandingAnswers": { access: "overseen-or-own" },
  "GovernanceService.revokeStandingAnswers": {
    access: "overseen-or-own",
    request: (sessionId) => ({ sessionId, all: true }),
  },
  "GovernanceService.listMcpServers": { access: "overseen-or-own" },
  "GovernanceService.logInAtMcpServer": { access: "session", answers: "permission_denied" },
  "GovernanceService.acceptMcpServer": {
    ...session,
    request: (sessionId) => ({ sessionId, name: "none", digest: "none" }),
    answers: "permission_denied",
  },
  "GovernanceService.previewSystemPrompt": overseen,
  "GovernanceService.listLedgerRecords": { access: "overseen-or-own" },
  "GovernanceService.verifyLedger": { access: "overseen-or-own" },
  "GovernanceService.getParity": { access: "admin" },
  "PlanService.submitPlan": {
    ...session,
    request: (sessionId) => ({ sessionId, text: "no plan" }),
    answers: "invalid_argument",
  },
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
  "PlanService.getPlan": { ...overseen, request: (sessionId) => ({ sessionId, planId: "none" }), answers: "not_found" },
  "PlanService.listPlans": overseen,
};
