import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Redactor } from "@gennai/governance/redaction";
import type { Diagnostic } from "@gennai/protocol/model/session/editor-requests";
import type { EditorBridge } from "../bridge/session-bridge.ts";
import { isShown, problemLine } from "../bridge/shown-problems.ts";
import { type CheckEnd, CheckRuns, type CheckRunsPorts } from "./check-runs.ts";
import type { ChangedFiles } from "./noted-files.ts";

export interface EditCheckPorts extends CheckRunsPorts {
  readonly editor: Pick<EditorBridge, "can" | "listDiagnostics">;
  emit(event: SessionEvent): void;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
}

/**
 * Checks what the model changed, with the attached editor's diagnostics or else the project's own check. Quick checks run after
 * each call and go into its result; others, and those after several changing calls, run after the round. Then diagnostics are
 * added after the result of the call that changed the file, and the check's output after the last result.
 */
export class EditChecks {
  readonly #ports: EditCheckPorts;
  readonly #problems: EditorProblems;
  readonly #check: CheckRuns;
  /** Every file changed in this turn. */
  readonly #all = new Set<string>();
  /** The last call whose result already reports on its files, or with a check on all files. */
  #looked: { readonly callId: string; readonly by: "editor" | "check" } | undefined;
  /** Why the newest changes are not verified; undefined if they are. */
  #unverified: string | undefined;

  constructor(ports: EditCheckPorts) {
    this.#ports = ports;
    this.#problems = new EditorProblems(ports.editor);
    this.#check = new CheckRuns(ports);
  }

  /** Call it before the turn's first model call. */
  async begin(): Promise<void> {
    if (this.#problems.available) await this.#problems.begin(this.#ports.signal).catch(() => undefined);
  }

  /**
   * The text for the result of a call that has just changed files. The change is recorded first if this takes time. Rejects
   * only if it cannot be recorded: other failures are tried again after the round.
   */
  async look({ callId, paths, bySubAgent, signal, record }: EditingCall): Promise<string | undefined> {
    this.#looked = undefined;
    if (!this.#problems.available && !this.#check.isQuick) return undefined;
    await record();
    try {
      if (this.#problems.available) {
        const { fresh, errors } = await this.#problems.find(paths, bySubAgent, signal);
        this.#editorSays(errors);
        this.#looked = { callId, by: "editor" };
        return fresh.length === 0 ? undefined : newProblemsText(fresh);
      }
      const end = await this.#check.runIfQuick(signal);
      if (end?.type !== "ran") return undefined;
      this.#checkSays(end);
      this.#looked = { callId, by: "check" };
      return end.fresh;
    } catch {
      return undefined;
    }
  }

  /** Call it between two rounds. @param changed files changed in the round before */
  async run(changed: ChangedFiles | undefined): Promise<void> {
    if (changed === undefined || changed.calls.size === 0) return;
    const { calls, callId } = changed;
    for (const path of calls.keys()) this.#all.add(path);
    if (this.#looked?.callId === callId) {
      // One call may have broken what another changed: the editor was asked only about the last call's files.
      if (this.#looked.by === "check" || [...calls.values()].every((each) => each === callId)) return;
    }
    if (this.#problems.available && (await this.#byEditor(changed))) return;
    const end = await this.#check.run(this.#ports.signal);
    this.#checkSays(end);
    if (end.type === "ran") await this.#tell(end.text, callId);
  }

  /** What the user must know if the turn claims to be done; undefined if everything was verified or nothing changed. */
  conclusion(): string | undefined {
    if (this.#all.size === 0 || this.#unverified === undefined) return undefined;
    const files = this.#all.size === 1 ? "The changed file was" : `The ${this.#all.size} changed files were`;
    return `${files} not verified: ${this.#unverified}`;
  }

  async #byEditor({ calls, callId }: ChangedFiles): Promise<boolean> {
    const found = await this.#problems.find([...calls.keys()], false, this.#ports.signal).catch(() => undefined);
    if (found === undefined) return false;
    this.#editorSays(found.errors);
    for (const [by, problems] of Map.groupBy(found.fresh, ({ path }) => calls.get(path) ?? callId)) {
      await this.#tell(newProblemsText(problems), by);
    }
    return true;
  }

  #editorSays(errors: number): void {
    this.#unverified =
      errors === 0 ? undefined : `the editor reports ${errors} error${errors === 1 ? "" : "s"} in them.`;
  }

  #checkSays(end: CheckEnd): void {
    if (end.type === "not-run") this.#unverified = end.why;
    else this.#unverified = end.passed ? undefined : `the check \`${end.command}\` did not pass.`;
  }

  /** Program output is data: it is added to a result, like the result's own text. */
  async #tell(text: string, toolCallId: string): Promise<void> {
    const masked = await this.#ports.redactor.redact(text);
    this.#ports.emit({ type: "call-note", toolCallId, text: masked });
  }
}

/** A call that has changed files and whose result is not yet reported. */
interface EditingCall {
  readonly callId: string;
  /** Relative to the workspace; at least one. */
  readonly paths: readonly string[];
  /** Made by a sub-agent: the session's own model does not read the result. */
  readonly bySubAgent: boolean;
  readonly signal: AbortSignal;
  /** Makes the changes durable before a long check, because the server may end in the meantime. */
  record(): Promise<void>;
}

/** Called after each call that changed files, for new problems in them. Not set before the turn begins. */
export interface LookAfterEdit {
  /** Text for the call's result; undefined: none. Rejects only if the change cannot be recorded. */
  look?: (call: EditingCall) => Promise<string | undefined>;
}

/** More changed files than this are checked after the round. */
export const mostFiles = 50;

/** Milliseconds an editor gets to analyse a changed file. */
const settleMs = 400;
const maxProblems = 50;

interface FoundProblems {
  /** Problems that were not reported to this model before. */
  readonly fresh: readonly Diagnostic[];
  /** Number of errors, reported before or not. */
  readonly errors: number;
}

/** The attached editor's diagnostics of changed files, each reported once to the session's model and once to its sub-agents. */
class EditorProblems {
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
function newProblemsText(problems: readonly Diagnostic[]): string {
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
