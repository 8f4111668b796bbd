/** How the agent handles a request: a prompt and the tools it may use. */
export interface Scenario {
  /** Upper case, e.g. `EDITOR_CODE`. */
  readonly name: string;
  readonly description: string;
  /** Names of the tools offered to the model; the gate still decides about every call. */
  readonly tools: readonly string[];
  /** The tool groups as written, for lists shown to people. */
  readonly toolsText: string;
  /** Names of MCP servers the scenario asks for; `*` for all. */
  readonly mcp: readonly string[];
  /** May contain placeholders, see `renderPrompt`. */
  readonly prompt: string;
  /** `built-in`, or the file it came from. */
  readonly source: string;
}

/** Where a definition was read, so that problems can name the place. */
export interface ScenarioSource {
  readonly file: string;
  /** 1-based line of the value at `path`, or of `needle` inside that value; undefined when unknown. */
  lineOf(path: readonly string[], needle?: string): number | undefined;
}

/** `error`: the scenario was left out. `warning`: it was read, but not exactly as written. */
export interface ScenarioProblem {
  readonly severity: "error" | "warning";
  readonly code: ScenarioProblemCode;
  readonly file: string;
  readonly line: number | undefined;
  readonly scenario: string;
  /** Empty if the problem concerns the whole scenario. */
  readonly field: string;
  /** What is wrong and how to mend it. */
  readonly message: string;
}

export type ScenarioProblemCode =
  | "invalid_file"
  | "invalid_name"
  | "invalid_field"
  | "unknown_field"
  | "unknown_tool"
  | "unknown_placeholder"
  | "tools_narrowed"
  | "tools_widened"
  | "duplicate_name";

/** `file:line: NAME.field: message`. */
export function describeScenarioProblem(problem: ScenarioProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  const subject = [problem.scenario, problem.field].filter((part) => part !== "").join(".");
  return [place, subject, problem.message].filter((part) => part !== "").join(": ");
}

/** A scenario that cannot be used. */
export class ScenarioError extends Error {
  readonly code: ScenarioProblemCode;
  readonly problem: ScenarioProblem;

  constructor(problem: ScenarioProblem) {
    super(describeScenarioProblem(problem));
    this.name = "ScenarioError";
    this.code = problem.code;
    this.problem = problem;
  }
}
