import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Intent } from "@gennai/governance/intents/intent";
import type { ListedRules } from "@gennai/governance/rules/listed-rules";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import { ServiceError } from "@gennai/machine/service-error";
import {
  type EmergencyControl as EmergencyControlMessage,
  McpServerState,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type EmergencyControl, emergencyControlWords } from "@gennai/protocol/model/governance/emergency";
import { questionToMessage } from "@gennai/protocol/model/governance/question";
import { ruleKindWords } from "@gennai/protocol/model/governance/rule-kind";
import { verdictWords } from "@gennai/protocol/model/governance/tool-outcome";
import type { Approval } from "@gennai/sessions/bridge/second-person";
import { describedStart } from "@gennai/sessions/mcp/described-start";
import type { McpStatus } from "@gennai/sessions/mcp/mcp-acceptance";

/** Throws `ServiceError` `invalid_argument`. */
export function controlFromWire(control: EmergencyControlMessage): EmergencyControl {
  const known = emergencyControlWords.fromMessage(control);
  if (known !== undefined) return known;
  throw new ServiceError("invalid_argument", "This server does not know this control.", {
    hint: "READ_ONLY, DISABLE_HIGH_IMPACT, BLOCK_TOOL or STOP_ALL.",
  });
}

export function approvalToWire({ id, question, user, workspace, without, since, expires }: Approval) {
  return {
    question: { ...questionToMessage(question), requestId: id, deadline: timestampFromMs(expires) },
    agreedBy: user,
    workspace,
    without: [...without],
    since: timestampFromMs(since),
  };
}

export function intentToWire(intent: Intent) {
  const { ownedScope, constraints, acceptanceCriteria, ...rest } = intent;
  return {
    ...rest,
    ownedScope: [...ownedScope],
    constraints: [...constraints],
    acceptanceCriteria: [...acceptanceCriteria],
  };
}

export function rulesStatusToWire(status: RulesStatus) {
  return { ...status, problems: [...status.problems] };
}

export function listedRulesToWire({ rules, callsLookedAt }: ListedRules) {
  return {
    callsLookedAt,
    rules: rules.map(({ kind, verdict, activity, ...rule }) => ({
      ...rule,
      kind: ruleKindWords.toMessage(kind),
      verdict: verdict === undefined ? undefined : verdictWords.toMessage(verdict),
      activity: {
        refused: activity.refused,
        allowed: activity.allowed,
        last: activity.last === undefined ? undefined : timestampFromMs(activity.last),
      },
    })),
  };
}

/** @param detailed whether the caller may know the start command, which may contain the operator's keys */
export function mcpServerToWire(
  { server, accepted, changed, loggedIn }: McpStatus,
  { detailed }: { readonly detailed: boolean },
) {
  const { name, origin, written, runs, digest } = server;
  const state = accepted ? McpServerState.ACCEPTED : changed ? McpServerState.CHANGED : McpServerState.NEW;
  if (!detailed) return { name, origin, state };
  return {
    name,
    origin,
    state,
    digest,
    start: describedStart(written, "masked").join("\n"),
    logsIn: accepted && server.start.type === "http",
    ...(loggedIn === undefined ? {} : { loggedIn: timestampFromMs(Date.parse(loggedIn)) }),
    runs: Object.entries(runs).map(([part, content]) => ({ name: part, content })),
  };
}
