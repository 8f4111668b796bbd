import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { ProjectCheck } from "./detect-check.ts";

/** Maximum milliseconds for a check; after a single call: how long to wait for one, and how fast it must have been. */
const checkMs = 120_000;
const quickWaitMs = 10_000;
const quickMs = 5_000;
/** Characters of output that go to the model. */
const maxOutput = 8_000;
/** A shell's exit code for a missing program. */
const notFound = 127;

export interface CheckRunsPorts {
  /** Bash behind the gate of this turn, and a version that refuses instead of asking a user. */
  readonly tools: GovernedTools;
  readonly unasked: GovernedTools;
  /** The project's own check; looked up on first use. */
  check(): Promise<ProjectCheck | undefined>;
  /** Called before a call of a check that the repository defines. */
  ofRepository(callId: string, check: ProjectCheck): void;
  readonly turnId: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

export type CheckEnd =
  /** `text`: for the model; `fresh`: only what the previous run did not print. */
  | {
      readonly type: "ran";
      readonly command: string;
      readonly passed: boolean;
      readonly text: string;
      readonly fresh: string;
    }
  | { readonly type: "not-run"; readonly why: string };

/** Runs the project's own check, as allowed by a user. */
export class CheckRuns {
  readonly #ports: CheckRunsPorts;
  #runs = 0;
  /** The last run was fast enough to run one after each call. */
  #quick = false;
  /** A user refused, or nobody answered: not asked again. */
  #declined: string | undefined;
  #printed: ReadonlySet<string> = new Set();

  constructor(ports: CheckRunsPorts) {
    this.#ports = ports;
  }

  /** Runs the check, however long it takes. */
  async run(signal: AbortSignal): Promise<CheckEnd> {
    const check = await this.#ports.check();
    if (check === undefined) {
      return {
        type: "not-run",
        why: "no check is known for this project; name one as `check` in .gennai/config.yaml.",
      };
    }
    if (this.#declined !== undefined) return { type: "not-run", why: this.#declined };
    const result = await this.#call(check, this.#ports.tools, signal);
    if (result === undefined || result.refused) {
      this.#declined = `the check \`${check.command}\` did not run: ${result?.error?.message ?? "it did not run."}`;
    } else if (result.exitCode === notFound) {
      this.#declined = `there is no program for the check \`${check.command}\`.`;
    } else {
      return this.#ended(check, result);
    }
    return { type: "not-run", why: this.#declined };
  }

  /** Whether the last run was quick. */
  get isQuick(): boolean {
    return this.#quick;
  }

  /**
   * Runs the check again if the last run was quick; undefined if it was not, is not this time, or a user would have to be
   * asked.
   */
  async runIfQuick(signal: AbortSignal): Promise<CheckEnd | undefined> {
    const check = this.#quick ? await this.#ports.check() : undefined;
    if (check === undefined) return undefined;
    const soon = AbortSignal.any([signal, AbortSignal.timeout(quickWaitMs)]);
    const result = await this.#call(check, this.#ports.unasked, soon);
    if (result?.exitCode !== undefined) return this.#ended(check, result);
    this.#quick = false;
    return undefined;
  }

  async #call(check: ProjectCheck, tools: GovernedTools, signal: AbortSignal): Promise<CallResult | undefined> {
    const { turnId, ofRepository } = this.#ports;
    this.#runs += 1;
    const id = `${turnId}-check-${this.#runs}`;
    if (check.fromRepository) ofRepository(id, check);
    const args = {
      command: check.command,
      timeout_ms: checkMs,
      description: `The project's check, from ${check.source}`,
    };
    const began = this.#ports.now();
    const [result] = await tools.run([{ id, name: "Bash", argumentsJson: JSON.stringify(args) }], { turnId, signal });
    this.#quick = this.#ports.now() - began <= quickMs && result?.refused === false;
    return result;
  }

  #ended({ command }: ProjectCheck, { exitCode, output }: CallResult): CheckEnd {
    const lines = output.split("\n");
    const isNew = (line: string) => !this.#printed.has(withoutNumbers(line));
    const fresh = lines.filter(isNew).join("\n").trim();
    this.#printed = new Set(lines.map(withoutNumbers));
    const ran = `The project's check \`${command}\` ran after this change and`;
    if (exitCode === 0) return { type: "ran", command, passed: true, text: `${ran} passed.`, fresh: `${ran} passed.` };
    return {
      type: "ran",
      command,
      passed: false,
      text: `${ran} did not pass:\n${tail(output)}`,
      fresh:
        fresh === "" ? `${ran} still did not pass, with nothing new.` : `${ran} did not pass; new:\n${tail(fresh)}`,
    };
  }
}

/** Line numbers and durations differ in each run. */
function withoutNumbers(line: string): string {
  return line.replaceAll(/\d+/g, "0");
}

function tail(text: string): string {
  return text.length <= maxOutput ? text : `[beginning left out]\n${text.slice(-maxOutput)}`;
}
