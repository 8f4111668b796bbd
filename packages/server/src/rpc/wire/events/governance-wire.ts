import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { EmergencyControl as DomainControl, EmergencyState } from "@gennai/governance/emergency/emergency-state";
import type { Intent } from "@gennai/governance/intents/intent";
import type { ListedRules } from "@gennai/governance/rules/status/listed-rules";
import type { RulesStatus } from "@gennai/governance/rules/status/rules-status";
import { ServiceError } from "@gennai/machine/service-error";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { EnumWords } from "@gennai/protocol/model/enum-words";
import { ruleKindWords } from "@gennai/protocol/model/governance/rule-kind";
import { verdictWords } from "@gennai/protocol/model/governance/tool-outcome";

const controls = new EnumWords<DomainControl, EmergencyControl>({
  "read-only": EmergencyControl.READ_ONLY,
  "disable-high-impact": EmergencyControl.DISABLE_HIGH_IMPACT,
  "block-tool": EmergencyControl.BLOCK_TOOL,
  "stop-all": EmergencyControl.STOP_ALL,
});

export function controlToWire(control: DomainControl): EmergencyControl {
  return controls.toMessage(control);
}

/** Throws `ServiceError` `invalid_argument`. */
export function controlFromWire(control: EmergencyControl): DomainControl {
  const known = controls.fromMessage(control);
  if (known !== undefined) return known;
  throw new ServiceError("invalid_argument", "This server does not know this control.", {
    hint: "READ_ONLY, DISABLE_HIGH_IMPACT, BLOCK_TOOL or STOP_ALL.",
  });
}

export function emergencyToWire(state: EmergencyState) {
  const { readOnly, disableHighImpact, blockedTools, stopAll } = state;
  return { readOnly, disableHighImpact, blockedTools: [...blockedTools], stopAll };
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
