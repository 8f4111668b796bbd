import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

/**
 * The effect of a call, for windows that only watch:
 * - `look`: it changes nothing of a session here, its files or its rules
 * - `stop`: it ends or forbids work
 * - `act`: everything else
 */
export type RpcEffect = "look" | "stop" | "act";

const { method: agent } = AgentService;
const { method: governance } = GovernanceService;
const { method: plans } = PlanService;

const looks = namesOf([
  agent.listScenarios,
  agent.getTodos,
  agent.getConversationPreview,
  agent.subscribe,
  agent.listSessions,
  agent.resumeSession,
  agent.listModels,
  agent.getServerInfo,
  agent.getBlob,
  agent.listCheckpoints,
  agent.listLayer,
  agent.getWorkspaceState,
  agent.listPaths,
  agent.listBackgroundRuns,
  agent.readBackgroundRun,
  agent.listAttempts,
  agent.getAttemptContent,
  governance.getGovernanceStatus,
  governance.checkPolicy,
  governance.listIntents,
  governance.previewSystemPrompt,
  governance.listLedgerRecords,
  governance.verifyLedger,
  governance.getParity,
  governance.listStandingAnswers,
  governance.listApprovals,
  // Of another person's session.
  governance.answerApproval,
  governance.listMcpServers,
  governance.listRules,
  governance.traceLines,
  governance.traceCall,
  plans.getPlan,
  plans.listPlans,
]);

const stops = namesOf([
  agent.cancelTurn,
  agent.stopToolCall,
  agent.stop,
  agent.stopBackgroundRun,
  agent.stopAttempts,
  governance.setEmergencyControl,
]);

export function effectOf(method: DescMethod): RpcEffect {
  if (looks.has(nameOf(method))) return "look";
  return stops.has(nameOf(method)) ? "stop" : "act";
}

function namesOf(methods: readonly DescMethod[]): ReadonlySet<string> {
  return new Set(methods.map(nameOf));
}

/** Of a copy of a method, too: the view's streams are called by one whose messages are not read here. */
function nameOf({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}
