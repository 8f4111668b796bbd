import type { Findings, GateContext } from "./gate.ts";

/** Counts what a gate looks at, step by step. The first step that fails is the last: what comes after relies on it. */
export class Steps {
  readonly #evidence: string[] = [];
  readonly #output: string[] = [];
  readonly #doing: GateContext["doing"];
  #passed = 0;

  constructor(doing: GateContext["doing"]) {
    this.#doing = doing;
  }

  /** Runs a step. What it gives is evidence; what it throws fails the gate. */
  async check(name: string, look: () => Promise<string> | string): Promise<void> {
    this.#doing(() => name);
    let evidence: string;
    try {
      evidence = await look();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      throw new StepFailed(`${name}: ${text}`, { ...this.findings(), failed: 1 }, { cause: error });
    }
    this.#passed += 1;
    this.#evidence.push(evidence === "" ? name : `${name}: ${evidence}`);
  }

  /** Keeps what a program wrote. */
  note(text: string): void {
    this.#output.push(text);
  }

  findings(): Findings {
    const [evidence, output] = [this.#evidence, [...this.#output, ...this.#evidence].join("\n")];
    return { passed: this.#passed, failed: 0, skipped: 0, evidence, output };
  }
}

/** A step that did not hold, with all that was found before. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly findings: Findings;

  constructor(message: string, findings: Findings, options: ErrorOptions) {
    super(message, options);
    this.findings = findings;
  }
}
