import type { ActionPreview } from "../../gen/gennai/agent/v1/plan_pb.ts";
import { type Risk, riskFromMessage, riskWords } from "../governance/risk.ts";
import { verdictFromMessage, verdictWords } from "../governance/tool-outcome.ts";
import { changeFromMessage, changeToMessage, type ProposedChange } from "./proposal.ts";

/** What one action of a plan would do, before its approval. */
export interface PlannedAction {
  readonly stepId: string;
  /** 0-based, in the step. */
  readonly actionIndex: number;
  /** What the file would become, for file actions that are not denied. */
  readonly change: ProposedChange | undefined;
  /** For commands; empty otherwise. */
  readonly command: string;
  /** Directory the command runs in, as the plan says it; empty: the workspace. */
  readonly cwd: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  /** Rule and reason of the verdict; empty for a plain allow. */
  readonly rule: string;
  readonly reason: string;
}

export function plannedActionToMessage({ change, ...action }: PlannedAction) {
  return {
    ...action,
    verdict: verdictWords.toMessage(action.verdict),
    risk: riskWords.toMessage(action.risk),
    ...(change === undefined ? {} : { change: changeToMessage(change) }),
  };
}

export function plannedActionFromMessage(message: ActionPreview): PlannedAction {
  const { stepId, actionIndex, change, command, cwd, rule, reason } = message;
  return {
    stepId,
    actionIndex,
    change: change === undefined ? undefined : changeFromMessage(change),
    command,
    cwd,
    verdict: verdictFromMessage(message.verdict),
    risk: riskFromMessage(message.risk),
    rule,
    reason,
  };
}
