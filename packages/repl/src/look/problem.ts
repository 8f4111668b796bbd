import { type Failure, failureOf } from "./failure.ts";

/** The failure of an action in a panel. */
export interface Problem extends Failure {
  /** What was tried, e.g. `Execute`. */
  readonly action: string;
  /** RFC 3339. */
  readonly time: string;
}

export function problemOf(error: unknown, action: string, now: () => number = Date.now): Problem {
  const failure = failureOf(error);
  const code = failure.code || (error instanceof Error ? error.name : "unknown");
  return { ...failure, code, action, time: new Date(now()).toISOString() };
}

/** All that is known of a problem, as text to pass on. */
export function problemDetails({ message, hint, code, action, time }: Problem): string {
  return [
    `action: ${action}`,
    `code: ${code}`,
    `message: ${message}`,
    ...(hint === "" ? [] : [`hint: ${hint}`]),
    `time: ${time}`,
  ].join("\n");
}
