import type { GovernanceClient } from "@gennai/client/connection/connection";
import { type EmergencyState, emergencyStateFromMessage, noEmergency } from "@gennai/client/governance/emergency";

/** What governs the session now. */
export interface GovernanceFacts {
  readonly emergency: EmergencyState;
  /** undefined until the server said. */
  readonly ruleCount: number | undefined;
  /** Empty: none. */
  readonly lastViolation: string;
}

export const noGovernance: GovernanceFacts = {
  emergency: noEmergency,
  ruleCount: undefined,
  lastViolation: "",
};

export async function readGovernance(
  client: GovernanceClient,
  sessionId: string,
  options: { readonly signal: AbortSignal },
): Promise<GovernanceFacts> {
  const { emergency, rules } = await client.getGovernanceStatus({ sessionId }, options);
  return {
    emergency: emergencyStateFromMessage(emergency),
    ruleCount: rules?.count,
    lastViolation: rules?.lastViolation ?? "",
  };
}

/** In words, for people; empty when none is on. */
export function emergencyWords(facts: EmergencyState): readonly string[] {
  return [
    ...(facts.stopAll ? ["everything is stopped"] : []),
    ...(facts.readOnly ? ["read-only"] : []),
    ...(facts.disableHighImpact ? ["high-impact actions are off"] : []),
    ...facts.blockedTools.map((tool) => `${tool} is blocked`),
  ];
}
