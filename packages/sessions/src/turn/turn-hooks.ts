import type { SessionEvent } from "@gennai/agent/events/session-event";
import { warningEvent } from "@gennai/agent/events/warning";
import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { EventAnswer, HookedEvent } from "@gennai/governance/hooks/event-hooks";
import { ServiceError } from "@gennai/machine/service-error";
import type { SessionHooks } from "../rules/session-hooks.ts";
import { changedSettings, settingsFiles } from "../rules/settings-files.ts";
import type { Session } from "../session/session.ts";

/** How often in a row hooks may have an agent go on that wants to end; as many as by the contract. */
const mostGoneOn = 8;

type Emit = (event: SessionEvent) => void;

/** Users' programs at the beginning and the end of a turn, of its sub-agents, and of its conversation. */
export class TurnHooks {
  readonly #session: Session;
  readonly #hooks: SessionHooks;
  readonly #signal: AbortSignal;

  constructor(session: Session, hooks: SessionHooks, signal: AbortSignal) {
    this.#session = session;
    this.#hooks = hooks;
    this.#signal = signal;
  }

  /**
   * What goes along with a prompt. Throws `ServiceError` if a program refuses the prompt, or settings that changed.
   * @param prompt as the user wrote it; undefined: the turn goes on without one
   */
  async begin(prompt: string | undefined): Promise<readonly SessionEvent[]> {
    const settled = await this.#settle();
    const started = [...settled, ...(await this.started())];
    if (prompt === undefined) return started;
    return [...started, ...contextOf(await this.#accepted(prompt))];
  }

  /** Asks the programs of the turn before about settings that changed since: those of now may be what changed. */
  async #settle(): Promise<readonly SessionEvent[]> {
    const { settled: before, services, workspace } = this.#session;
    if ([before?.hooks, this.#hooks].every((hooks) => (hooks?.longestMs("ConfigChange") ?? 0) === 0)) return [];
    const files = await settingsFiles({ ...services, root: workspace.controlRoot });
    const events: SessionEvent[] = [];
    for (const { path, source } of before === undefined ? [] : changedSettings(before.files, files)) {
      const event = { event: "ConfigChange", names: [source], input: { source, file_path: path } } as const;
      const answer = await before?.hooks.tell(event, { signal: this.#signal });
      if (answer?.refusal !== undefined)
        throw new ServiceError(
          "failed_precondition",
          `A hook of the user refused the change of ${path}: ${answer.refusal}`,
          {
            hint: "Take the change back, or go on in a new session.",
          },
        );
      if (answer !== undefined) events.push(...contextOf(answer));
    }
    this.#session.settled = { hooks: this.#hooks, files };
    return events;
  }

  /** The same for a message to the running turn. */
  async join(prompt: string): Promise<readonly SessionEvent[]> {
    return contextOf(await this.#accepted(prompt));
  }

  /** Tells of the session's start, if that has not been done since it was opened, cleared or compacted. */
  async started(): Promise<readonly SessionEvent[]> {
    const source = this.#session.startDue;
    if (source === undefined) return [];
    this.#session.startDue = undefined;
    return contextOf(await this.#tell({ event: "SessionStart", names: [source], input: { source } }));
  }

  async #accepted(prompt: string): Promise<EventAnswer> {
    const answer = await this.#tell({ event: "UserPromptSubmit", input: { prompt } });
    if (answer.refusal === undefined) return answer;
    throw new ServiceError("failed_precondition", `A hook of the user refused this prompt: ${answer.refusal}`, {
      hint: "Do what it says, or change the hook.",
    });
  }

  /**
   * Asks the programs whether an agent may end. One that failed is a failure of the turn: what it guards was not looked at.
   * @param agent the sub-agent; undefined: the turn's own
   */
  ending(emit: Emit, agent?: { readonly id: string; readonly type: string }) {
    let goneOn = 0;
    return async (text: string): Promise<TurnEnd | "again" | undefined> => {
      const { refusal, failed, stop, notes, messages } = await this.#tell({
        event: agent === undefined ? "Stop" : "SubagentStop",
        ...(agent === undefined ? {} : { names: [agent.type] }),
        input: {
          stop_hook_active: goneOn > 0,
          last_assistant_message: text,
          ...(agent === undefined ? {} : { agent_id: agent.id, agent_type: agent.type }),
        },
      });
      for (const message of messages) emit(warningEvent(message));
      if (refusal === undefined || stop !== undefined) return undefined;
      if (failed === true) return hookEnd("hook_failed", refusal);
      if (goneOn === mostGoneOn) return hookEnd("hook_denied", `Hooks had the agent go on ${goneOn} times: ${refusal}`);
      goneOn += 1;
      emit(warningEvent(`A hook has the agent go on: ${refusal}`));
      emit({ type: "model-note", text: [...notes, `The user's hook says, before you end: ${refusal}`].join("\n") });
      return "again";
    };
  }

  /** Whether a conversation may be compacted now. @param isNested it is a sub-agent's */
  async mayCompact(trigger: "auto" | "manual", emit: Emit, isNested = false): Promise<boolean> {
    const input = { trigger, custom_instructions: "" };
    const { refusal, messages } = await this.#tell({ event: "PreCompact", names: [trigger], input });
    for (const message of messages) emit(warningEvent(message));
    if (refusal === undefined && !isNested) this.#session.startDue = "compact";
    if (refusal !== undefined)
      emit(warningEvent(`A hook of the user does not let the conversation be compacted: ${refusal}`));
    return refusal === undefined;
  }

  #tell(event: HookedEvent): Promise<EventAnswer> {
    return this.#hooks.tell(event, { signal: this.#signal });
  }
}

function contextOf({ notes, messages }: EventAnswer): readonly SessionEvent[] {
  const items = [{ name: "what your hooks said", state: "included", reason: "" }] as const;
  return [
    ...(notes.length === 0 ? [] : [{ type: "context-added", items, text: notes.join("\n\n"), observed: [] } as const]),
    ...messages.map(warningEvent),
  ];
}

function hookEnd(code: string, message: string): TurnEnd {
  return { type: "failed", code, message, hint: "Correct or remove the hook, then continue.", retryable: true };
}
