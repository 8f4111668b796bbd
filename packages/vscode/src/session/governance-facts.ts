import type { CallOptions, GovernanceClient } from "@gennai/client/connection/connection";
import { type EmergencyState, emergencyFromMessage, noEmergency } from "@gennai/protocol/model/governance/emergency";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";

/** What governs the session at present. */
export interface GovernanceFacts {
  readonly emergency: EmergencyState;
  /** Damage control in the server's words: how many rules are active, or what one just stopped. Empty until reported. */
  readonly rulesText: string;
  /** undefined until the server has reported. */
  readonly ruleCount: number | undefined;
  /** Empty: none. */
  readonly lastViolation: string;
  /** undefined until the server has reported. */
  readonly intents: IntentsMode | undefined;
  /** Problems in rule files: file, line, what to do. */
  readonly ruleProblems: readonly string[];
  /** Names of the policies of this machine that nobody here can lift. */
  readonly managedBy: readonly string[];
}

export const noGovernance: GovernanceFacts = {
  emergency: noEmergency,
  rulesText: "",
  ruleCount: undefined,
  lastViolation: "",
  intents: undefined,
  ruleProblems: [],
  managedBy: [],
};

export async function readGovernance(
  client: GovernanceClient,
  sessionId: string,
  options: CallOptions,
): Promise<GovernanceFacts> {
  const { emergency, rules, intentsMode, managed } = await client.getGovernanceStatus({ sessionId }, options);
  return {
    emergency: emergencyFromMessage(emergency),
    rulesText: rules?.text ?? "",
    ruleCount: rules?.count,
    lastViolation: rules?.lastViolation ?? "",
    intents: intentsModeWords.fromMessage(intentsMode),
    ruleProblems: rules?.problems ?? [],
    managedBy: managed.map(({ name }) => name),
  };
}

/** The controls that are on, in words for people; empty if none is. */
export function emergencyWords(facts: EmergencyState): readonly string[] {
  return [
    ...(facts.stopAll ? ["everything is stopped"] : []),
    ...(facts.readOnly ? ["read-only"] : []),
    ...(facts.disableHighImpact ? ["high-impact actions are off"] : []),
    ...facts.blockedTools.map((tool) => `${tool} is blocked`),
  ];
}
