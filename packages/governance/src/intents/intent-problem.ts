/** Where intents were read from. */
export interface IntentSource {
  /** Relative to the workspace, for messages. */
  readonly file: string;
  /** 1-based line of the value at `path`, or of `needle` inside that value. */
  lineOf(path: readonly (string | number)[], needle?: string): number | undefined;
}

/** Something about an intents file that a person should mend. */
export interface IntentProblem {
  /** `error`: the intent, or the entry, does not count. */
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line: number | undefined;
  /** Id of the intent; empty when the problem is about the whole file, or the intent has none. */
  readonly intent: string;
  /** What is wrong and how to correct it. */
  readonly message: string;
}

/** `file:line: ID: message`. */
export function describeIntentProblem(problem: IntentProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  return [place, problem.intent, problem.message].filter((part) => part !== "").join(": ");
}
