import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { GateJournal } from "@gennai/governance/gate-journal";
import { type EventAnswer, type HookedEvent, runEventHooks } from "@gennai/governance/hooks/event-hooks";
import type { HookEvent } from "@gennai/governance/hooks/hook-config";
import { type CallHooks, withCallHooks } from "@gennai/governance/hooks/hooks-journal";
import { createBrokenHooksPolicy, createHookPolicies, type HookRunner } from "@gennai/governance/hooks/hooks-policy";
import type { Policy } from "@gennai/governance/policy";
import type { Redactor } from "@gennai/governance/redaction";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { createHookRunner } from "./run-hook.ts";
import type { SettingsFiles } from "./settings-files.ts";
import type { LoadedHooks } from "./workspace-hooks.ts";

/** A session, as far as programs are told of it. */
interface HookedSession {
  readonly id: string;
  readonly workspace: Pick<Workspace, "controlRoot" | "place">;
  readonly services: {
    loadHooks(workspaceRoot: string): Promise<LoadedHooks>;
    readonly commandEnvironment: Readonly<Record<string, string>>;
    readonly redactor: Redactor;
    onUnexpectedError(error: unknown): void;
  };
  readonly turns: { cancel(reason: string, turnId: string): Promise<unknown> };
}

interface Writer {
  emit(event: SessionEvent, place: { readonly turnId: string }): void;
}

/** Users' programs around the work of one session, as they are configured and trusted now. What they say is masked. */
export class SessionHooks implements CallHooks {
  /** Those that decide about calls. */
  readonly policies: readonly Policy[];
  readonly #session: HookedSession;
  readonly #loaded: LoadedHooks;
  readonly #runner: HookRunner;

  private constructor(session: HookedSession, loaded: LoadedHooks) {
    const { services, workspace } = session;
    const cwd = workspace.controlRoot;
    this.#session = session;
    this.#loaded = loaded;
    this.#runner = createHookRunner({ cwd, environment: services.commandEnvironment });
    this.policies = [
      ...createHookPolicies(loaded.hooks, { runner: this.#runner, cwd }),
      ...loaded.problems.map(createBrokenHooksPolicy),
    ];
  }

  static async of(session: HookedSession): Promise<SessionHooks> {
    return new SessionHooks(session, await session.services.loadHooks(session.workspace.place));
  }

  get warnings(): readonly string[] {
    return this.#loaded.warnings;
  }

  longestMs(event: HookEvent): number {
    return Math.max(0, ...this.#loaded.hooks.flatMap((hook) => (hook.event === event ? [hook.timeoutMs] : [])));
  }

  /** Rejects only by the signal's abort. */
  async tell(
    event: HookedEvent,
    { signal, mostMs }: { readonly signal: AbortSignal; readonly mostMs?: number },
  ): Promise<EventAnswer> {
    const { id: sessionId, workspace, services } = this.#session;
    const said = await runEventHooks(this.#loaded.hooks, event, {
      runner: this.#runner,
      cwd: workspace.controlRoot,
      sessionId,
      signal,
      ...(mostMs === undefined ? {} : { mostMs }),
    });
    const masked = (text: string): Promise<string> => services.redactor.redact(text);
    const { refusal, stop } = said;
    return {
      ...said,
      ...(refusal === undefined ? {} : { refusal: await masked(refusal) }),
      ...(stop === undefined ? {} : { stop: await masked(stop) }),
      notes: await Promise.all(said.notes.map(masked)),
      messages: await Promise.all(said.messages.map(masked)),
    };
  }

  /** Tells of a question that waits for a person; the question does not wait for the programs. */
  notify(kind: "permission_prompt" | "elicitation_dialog", message: string, signal: AbortSignal): void {
    const input = { message, title: "Gennai", notification_type: kind };
    // They only look, and the turn may be over.
    void this.tell({ event: "Notification", names: [kind], input }, { signal }).catch(() => undefined);
  }

  /** The gate's journal, which tells of calls that ended. @param writer of the conversation that the calls belong to */
  journal(journal: GateJournal, writer: Writer, signal: AbortSignal): GateJournal {
    return withCallHooks(journal, this, {
      note: (toolCallId, text, turnId) => writer.emit({ type: "call-note", toolCallId, text }, { turnId }),
      stop: (reason, turnId) =>
        void this.#session.turns.cancel(`A hook of the user stopped the turn: ${reason}`, turnId),
      signal,
    });
  }
}

/** What held in a turn. */
export interface SettledSettings {
  readonly hooks: SessionHooks;
  readonly files: SettingsFiles;
}

/** Tells that a session ends here. Never rejects. */
export async function tellSessionEnd(session: HookedSession, reason: "clear" | "other"): Promise<void> {
  try {
    const hooks = await SessionHooks.of(session);
    const { signal } = new AbortController();
    await hooks.tell({ event: "SessionEnd", names: [reason], input: { reason } }, { signal });
  } catch (error) {
    session.services.onUnexpectedError(error);
  }
}
