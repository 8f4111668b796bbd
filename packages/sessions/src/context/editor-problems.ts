import type { Diagnostic } from "@gennai/protocol/model/session/editor-requests";
import type { EditorBridge } from "../bridge/session-bridge.ts";
import { isShown, problemLine } from "../bridge/shown-problems.ts";

/** Milliseconds an editor gets to analyse a changed file. */
const settleMs = 400;
const maxProblems = 50;

export interface FoundProblems {
  /** Problems that were not reported to this model before. */
  readonly fresh: readonly Diagnostic[];
  /** Number of errors, reported before or not. */
  readonly errors: number;
}

/** The attached editor's diagnostics of changed files, each reported once to the session's model and once to its sub-agents. */
export class EditorProblems {
  readonly #editor: Pick<EditorBridge, "can" | "listDiagnostics">;
  readonly #known = new Set<string>();
  readonly #knownToSubAgents = new Set<string>();

  constructor(editor: Pick<EditorBridge, "can" | "listDiagnostics">) {
    this.#editor = editor;
  }

  /** False without an attached editor that reports problems. */
  get available(): boolean {
    return this.#editor.can("diagnostics");
  }

  /** Call it before anything is changed: problems reported now are not new. Rejects if the editor does not answer. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const problem of await this.#list([], signal)) this.#known.add(keyOf(problem));
  }

  /**
   * Waits until the editor has analysed the files, and asks it. Rejects if it does not answer.
   * @param bySubAgent problems are reported to a sub-agent, and stay new for the session's own model
   */
  async find(paths: readonly string[], bySubAgent: boolean, signal: AbortSignal): Promise<FoundProblems> {
    await settled(signal);
    const found = await this.#list(paths, signal);
    const isKnown = (key: string) => this.#known.has(key) || (bySubAgent && this.#knownToSubAgents.has(key));
    const fresh = found.filter((problem) => !isKnown(keyOf(problem)));
    const told = bySubAgent ? this.#knownToSubAgents : this.#known;
    for (const problem of fresh) told.add(keyOf(problem));
    return { fresh, errors: found.filter(({ severity }) => severity === "error").length };
  }

  async #list(paths: readonly string[], signal: AbortSignal): Promise<readonly Diagnostic[]> {
    const found = await this.#editor.listDiagnostics({ paths }, { signal });
    return found.filter((problem) => isShown(problem) && (paths.length === 0 || paths.includes(problem.path)));
  }
}

/** Text for the model. @param problems at least one */
export function newProblemsText(problems: readonly Diagnostic[]): string {
  const lines = problems.slice(0, maxProblems).map(problemLine);
  if (problems.length > maxProblems) lines.push(`and ${problems.length - maxProblems} more`);
  return `The editor reports new problems in what this changed:\n${lines.join("\n")}`;
}

/** Lines move with each edit, so the key has no line number. */
function keyOf({ path, severity, message, source }: Diagnostic): string {
  return JSON.stringify([path, severity, message, source]);
}

async function settled(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, settleMs);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
