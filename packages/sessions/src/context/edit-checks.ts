import type { SessionEvent } from "@gennai/agent/session-event";
import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { Redactor } from "@gennai/governance/redaction";
import type { Diagnostic } from "@gennai/protocol/model/editor-requests";
import type { EditorBridge } from "../bridge/editor-bridge.ts";
import { isShown, problemLine } from "../tools/reading/problems-tool.ts";
import type { ProjectCheck } from "./detect-check.ts";
import type { ChangedFiles } from "./noted-files.ts";

/** Milliseconds a check may take, and an editor gets to look at a changed file. */
const checkMs = 120_000;
const settleMs = 400;
/** Characters of output that go to the model. */
const maxOutput = 8_000;
const maxProblems = 50;
/** How a shell says that there is no such program. */
const notFound = 127;

export interface EditCheckPorts {
  readonly editor: Pick<EditorBridge, "can" | "listDiagnostics">;
  /** Bash behind the gate of this turn. */
  readonly tools: GovernedTools;
  /** The project's own check; asked for when it is needed first. */
  check(): Promise<ProjectCheck | undefined>;
  /** Told before a call of a check that the repository chose. */
  ofRepository(callId: string, check: ProjectCheck): void;
  emit(event: SessionEvent): void;
  readonly redactor: Redactor;
  readonly turnId: string;
  readonly signal: AbortSignal;
}

/**
 * Looks at what a round of the model changed, once a round: by the attached editor's language features, else by the
 * project's own check. What it finds goes to the model behind the result of the last change.
 */
export class EditChecks {
  readonly #ports: EditCheckPorts;
  /** Every file that was changed in this turn. */
  readonly #all = new Set<string>();
  #lastCall = "";
  #known: ReadonlySet<string> | undefined;
  #runs = 0;
  /** Why the newest changes are not verified; undefined: they are. */
  #unverified: string | undefined;
  /** A person said no, or nobody was there: it is not asked again. */
  #declined: string | undefined;

  constructor(ports: EditCheckPorts) {
    this.#ports = ports;
  }

  /** Call it before the turn's first model call: what the editor reports now is not new. */
  async begin(): Promise<void> {
    if (this.#ports.editor.can("diagnostics")) this.#known = await this.#problems([]).then(keysOf, () => undefined);
  }

  /** Call it between two rounds. @param changed in the round before */
  async run(changed: ChangedFiles | undefined): Promise<void> {
    if (changed === undefined || changed.paths.length === 0) return;
    const paths = [...new Set(changed.paths)];
    for (const path of paths) this.#all.add(path);
    this.#lastCall = changed.callId;
    const { editor } = this.#ports;
    if (editor.can("diagnostics") && (await this.#byEditor(paths))) return;
    await this.#byCommand();
  }

  /** What the user has to know at the end of a turn that says it is done; undefined when it was verified, or changed nothing. */
  conclusion(): string | undefined {
    if (this.#all.size === 0 || this.#unverified === undefined) return undefined;
    const files = this.#all.size === 1 ? "The changed file was" : `The ${this.#all.size} changed files were`;
    return `${files} not verified: ${this.#unverified}`;
  }

  async #byEditor(paths: readonly string[]): Promise<boolean> {
    await settled(this.#ports.signal);
    let found: readonly Diagnostic[];
    try {
      found = await this.#problems(paths);
    } catch {
      return false;
    }
    const known = this.#known ?? new Set<string>();
    const fresh = found.filter((problem) => !known.has(keyOf(problem)));
    this.#known = new Set([...known, ...keysOf(found)]);
    const errors = found.filter(({ severity }) => severity === "error").length;
    this.#unverified =
      errors === 0 ? undefined : `the editor reports ${errors} error${errors === 1 ? "" : "s"} in them.`;
    if (fresh.length === 0) return true;
    const lines = fresh.slice(0, maxProblems).map(problemLine);
    if (fresh.length > maxProblems) lines.push(`and ${fresh.length - maxProblems} more`);
    await this.#tell(`The editor reports new problems in changed files:\n${lines.join("\n")}`);
    return true;
  }

  async #problems(paths: readonly string[]): Promise<readonly Diagnostic[]> {
    const found = await this.#ports.editor.listDiagnostics({ paths }, { signal: this.#ports.signal });
    return found.filter((problem) => isShown(problem) && (paths.length === 0 || paths.includes(problem.path)));
  }

  async #byCommand(): Promise<void> {
    const { turnId, signal, tools } = this.#ports;
    const check = await this.#ports.check();
    if (check === undefined) {
      this.#unverified = "no check is known that may run here; name one as `check` in .gennai/config.yaml.";
      return;
    }
    if (this.#declined !== undefined) return;
    this.#runs += 1;
    const id = `${turnId}-check-${this.#runs}`;
    if (check.fromRepository) this.#ports.ofRepository(id, check);
    const args = {
      command: check.command,
      timeout_ms: checkMs,
      description: `The project's check, from ${check.source}`,
    };
    const [result] = await tools.run([{ id, name: "Bash", argumentsJson: JSON.stringify(args) }], { turnId, signal });
    if (result === undefined || result.refused) {
      const why = result?.error?.message ?? "it did not run.";
      this.#declined = why;
      this.#unverified = `the check \`${check.command}\` did not run: ${why}`;
      return;
    }
    if (result.exitCode === notFound) {
      this.#declined = `there is no program for the check \`${check.command}\`.`;
      this.#unverified = this.#declined;
      return;
    }
    const passed = result.exitCode === 0;
    this.#unverified = passed ? undefined : `the check \`${check.command}\` did not pass.`;
    await this.#tell(
      passed
        ? `The project's check \`${check.command}\` ran after this change and passed.`
        : `The project's check \`${check.command}\` ran after this change and did not pass:\n${tail(result.output)}`,
    );
  }

  /** Material that programs printed: it stands behind a result, as that result's own text does. */
  async #tell(text: string): Promise<void> {
    const masked = await this.#ports.redactor.redact(text);
    this.#ports.emit({ type: "call-note", toolCallId: this.#lastCall, text: masked });
  }
}

function keyOf({ path, severity, message, source }: Diagnostic): string {
  return JSON.stringify([path, severity, message, source]);
}

function keysOf(problems: readonly Diagnostic[]): ReadonlySet<string> {
  return new Set(problems.map(keyOf));
}

function tail(text: string): string {
  return text.length <= maxOutput ? text : `[beginning left out]\n${text.slice(-maxOutput)}`;
}

async function settled(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, settleMs);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
