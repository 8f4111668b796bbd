import type { GovernanceClient } from "@gennai/client/connection/connection";

/** Which emergency controls are on. */
export interface EmergencyFacts {
  readonly readOnly: boolean;
  readonly disableHighImpact: boolean;
  readonly stopAll: boolean;
  readonly blockedTools: readonly string[];
}

/** What governs the session now. */
export interface GovernanceFacts {
  readonly emergency: EmergencyFacts;
  /** undefined until the server said. */
  readonly ruleCount: number | undefined;
  /** Empty: none. */
  readonly lastViolation: string;
}

export const noGovernance: GovernanceFacts = {
  emergency: { readOnly: false, disableHighImpact: false, stopAll: false, blockedTools: [] },
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
    emergency: {
      readOnly: emergency?.readOnly ?? false,
      disableHighImpact: emergency?.disableHighImpact ?? false,
      stopAll: emergency?.stopAll ?? false,
      blockedTools: emergency?.blockedTools ?? [],
    },
    ruleCount: rules?.count,
    lastViolation: rules?.lastViolation ?? "",
  };
}

/** In words, for people; empty when none is on. */
export function emergencyWords(facts: EmergencyFacts): readonly string[] {
  return [
    ...(facts.stopAll ? ["everything is stopped"] : []),
    ...(facts.readOnly ? ["read-only"] : []),
    ...(facts.disableHighImpact ? ["high-impact actions are off"] : []),
    ...facts.blockedTools.map((tool) => `${tool} is blocked`),
  ];
}
