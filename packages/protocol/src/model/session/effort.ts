import { Effort as EffortMessage } from "../../gen/gennai/agent/v1/agent_pb.ts";
import { EnumWords } from "../enum-words.ts";

export const effortWords = new EnumWords({
  minimal: EffortMessage.MINIMAL,
  low: EffortMessage.LOW,
  medium: EffortMessage.MEDIUM,
  high: EffortMessage.HIGH,
  xhigh: EffortMessage.XHIGH,
  max: EffortMessage.MAX,
});

/** From the least. */
export const efforts = effortWords.words;

/** How hard a model thinks. */
export type Effort = (typeof efforts)[number];

/** The nearest that a model can do; the lower of two that are as near. @param supported empty: not known, so nothing changes */
export function nearestEffort(wanted: Effort, supported: readonly Effort[]): Effort {
  const distance = (effort: Effort) => Math.abs(efforts.indexOf(effort) - efforts.indexOf(wanted));
  return supported.reduce(
    (best, effort) => (distance(effort) < distance(best) ? effort : best),
    supported[0] ?? wanted,
  );
}
