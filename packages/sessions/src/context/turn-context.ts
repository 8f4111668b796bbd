import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import type { Redactor } from "@gennai/governance/redaction";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { findCheck, type ProjectCheck } from "./detect-check.ts";
import { EditChecks, type LookAfterEdit } from "./edit-checks.ts";
import type { EditorContext } from "./editor-context.ts";
import { type ContextImages, gatherContext } from "./gather-context.ts";
import type { NotedFiles } from "./noted-files.ts";
import type { OwnCalls } from "./own-calls.ts";

export interface TurnContextOptions {
  readonly turnId: string;
  readonly gate: { readonly own: OwnCalls; readonly notes: NotedFiles; readonly afterEdit: LookAfterEdit };
  /** As the user wrote it: masked text would not be a path. */
  readonly prompt: string;
  readonly editorContext: EditorContext | undefined;
  readonly editingMode: EditingMode;
  readonly images: ContextImages;
  readonly workspace: Workspace;
  readonly redactor: Redactor;
  readonly sink: TurnSink;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Context that the server adds by itself in a turn: what the prompt mentions, and problems in changed files. */
export class TurnContext {
  readonly #options: TurnContextOptions;
  readonly #checks: EditChecks;
  #begun = false;
  #check: Promise<ProjectCheck | undefined> | undefined;

  constructor(options: TurnContextOptions) {
    this.#options = options;
    const { gate, turnId, redactor, signal, sink, now } = options;
    this.#checks = new EditChecks({
      editor: gate.own.editor,
      tools: gate.own.tools,
      unasked: gate.own.unasked,
      turnId,
      redactor,
      signal,
      now,
      check: () => (this.#check ??= this.#findCheck()),
      ofRepository: (callId, check) => gate.own.repositoryChecks.set(callId, check),
      emit: (event) => sink.emit(event),
    });
  }

  /** Call it before each model call. */
  async beforeModelCall(): Promise<void> {
    // Proposal Mode writes nothing, so there is nothing to check.
    const checks = this.#options.editingMode === "branch";
    if (this.#begun) return checks ? this.#checks.run(this.#options.gate.notes.takeChanged()) : undefined;
    this.#begun = true;
    const { prompt, editorContext } = this.#options;
    await this.#gather(prompt, editorContext);
    if (!checks) return;
    await this.#checks.begin();
    this.#options.gate.afterEdit.look = (call) => this.#checks.look(call);
  }

  /** Fetches what a message mentions that the user sent during the turn; it is the last one in the conversation. */
  mentionedIn(text: string): Promise<void> {
    return this.#gather(text, undefined);
  }

  async #gather(prompt: string, editorContext: EditorContext | undefined): Promise<void> {
    const { gate, ...ports } = this.#options;
    const added = await gatherContext(prompt, editorContext, { ...ports, tools: gate.own.tools, notes: gate.notes });
    if (added === undefined) return;
    ports.sink.emit(added);
    for (const { name, state, reason } of added.items) {
      if (state !== "included") ports.sink.emit({ type: "warning", text: `${name}: ${reason}` });
    }
  }

  async #findCheck(): Promise<ProjectCheck | undefined> {
    const { gate, workspace } = this.#options;
    return gate.own.runsCommands ? findCheck(workspace.controlRoot, gate.own.configuredCheck) : undefined;
  }

  /** Call it when the turn claims to be done: warns the user if changes are not verified. */
  finish(): void {
    const unverified = this.#checks.conclusion();
    if (unverified !== undefined) this.#options.sink.emit({ type: "warning", text: unverified });
  }
}
