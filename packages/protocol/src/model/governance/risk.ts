import { RiskLevel } from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";

/** Lowest first: `low` reads, `medium` writes within scope and can be taken back, `high` destroys, is privileged or leaves the machine. */
export const riskWords = new EnumWords({
  low: RiskLevel.LOW,
  medium: RiskLevel.MEDIUM,
  high: RiskLevel.HIGH,
});

export type Risk = (typeof riskWords.words)[number];

/** The highest of the risks; `low` if there is none. */
export function highestRisk(risks: Iterable<Risk>): Risk {
  let highest: Risk = "low";
  for (const risk of risks) if (rank(risk) > rank(highest)) highest = risk;
  return highest;
}

/** Whether a risk is this high, or higher. One that is not known here, as in a newer log, is. */
export function isAtLeast(risk: Risk, level: Risk): boolean {
  return rank(risk) >= rank(level);
}

/** A risk that is not known here is taken for the highest. */
export function riskFromMessage(message: RiskLevel | undefined): Risk {
  return riskWords.fromMessage(message) ?? highestRisk(riskWords.words);
}

function rank(risk: Risk): number {
  const place = riskWords.words.indexOf(risk);
  return place === -1 ? riskWords.words.length : place;
}
