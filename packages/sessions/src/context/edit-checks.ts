import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Redactor } from "@gennai/governance/redaction";
import type { EditorBridge } from "../bridge/session-bridge.ts";
import { type CheckEnd, CheckRuns, type CheckRunsPorts } from "./check-runs.ts";
import { EditorProblems, newProblemsText } from "./editor-problems.ts";
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
