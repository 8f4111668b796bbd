import { gateErrors } from "./gate-errors.ts";

const nextSteps: ReadonlyMap<string, string> = new Map(
  Object.entries(gateErrors).map(([code, { next }]) => [code, next] as const),
);

/**
 * What a person can do about a call that was refused or failed. The hint of a refusal tells the model what to do ("do not repeat this
 * call"), so that people are told the next step of its code; of any other failure the hint says more than its code.
 */
export function adviceForPeople({
  code,
  hint,
}: {
  readonly code: string;
  readonly hint?: string | undefined;
}): string | undefined {
  return nextSteps.get(code) ?? hint;
}
