import { type HookAnswer, hookAnswer, hookFailed, nameOf } from "./hook-answer.ts";
import { type HookCommand, type HookEvent, hookEvents, matchesHook } from "./hook-config.ts";
import type { HookRunner } from "./hooks-policy.ts";

/** What happens, as users' programs are told. */
export interface HookedEvent {
  readonly event: HookEvent;
  /** Names that a matcher may have, of a tool or a kind of the event; absent: every program is told. */
  readonly names?: readonly string[];
  /** Fields of the event's own, as the contract names them. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** What all programs of an event said together. */
export interface EventAnswer {
  /** Why it must not happen; only where the event's programs decide. */
  readonly refusal?: string;
  /** The programs that refused did not decide so: they failed. */
  readonly failed?: true;
  /** Why the turn is to stop. */
  readonly stop?: string;
  /** For the model, each with the program's name. */
  readonly notes: readonly string[];
  /** For the user. */
  readonly messages: readonly string[];
}

const silent: EventAnswer = { notes: [], messages: [] };

/**
 * Tells the users' programs of this event, all at the same time. Where they decide, one that fails refuses. Rejects only by the
 * signal's abort.
 */
export async function runEventHooks(
  hooks: readonly HookCommand[],
  { event, names, input }: HookedEvent,
  options: {
    readonly runner: HookRunner;
    readonly cwd: string;
    readonly sessionId: string;
    readonly signal: AbortSignal;
    /** Maximum milliseconds, where less than the programs' own. */
    readonly mostMs?: number;
  },
): Promise<EventAnswer> {
  const due = hooks.filter((hook) => hook.event === event && (names === undefined || matchesHook(hook.matcher, names)));
  if (due.length === 0) return silent;
  const { runner, cwd, sessionId, signal, mostMs = Number.POSITIVE_INFINITY } = options;
  const told = { session_id: sessionId, cwd, hook_event_name: event, ...input };
  const decides = "decides" in hookEvents[event];
  const answers = await Promise.all(
    due.map(async (hook): Promise<EventAnswer> => {
      const run = await runner.run({ ...hook, timeoutMs: Math.min(hook.timeoutMs, mostMs) }, told, { signal });
      try {
        return answerAbout(hook, hookAnswer(hook, run), decides);
      } catch (error) {
        const failure = hookFailed(hook, error);
        return decides ? { ...silent, refusal: failure, failed: true } : { ...silent, messages: [failure] };
      }
    }),
  );
  const refused = answers.find(({ refusal, failed }) => refusal !== undefined && failed === undefined);
  const { refusal, failed } = refused ?? answers.find((answer) => answer.refusal !== undefined) ?? silent;
  const stop = answers.find((answer) => answer.stop !== undefined)?.stop;
  return {
    ...(refusal === undefined ? {} : { refusal }),
    ...(failed === undefined ? {} : { failed }),
    ...(stop === undefined ? {} : { stop }),
    notes: answers.flatMap(({ notes }) => notes),
    messages: answers.flatMap(({ messages }) => messages),
  };
}

function answerAbout(hook: HookCommand, answer: HookAnswer, decides: boolean): EventAnswer {
  const name = nameOf(hook);
  const { context, message, refusal, stops } = answer;
  const words = refusal === undefined ? undefined : `${name}: ${refusal}`;
  // What is done already cannot be refused: the model is told instead.
  const comments = [context, decides ? undefined : refusal].filter((each) => each !== undefined);
  return {
    ...(decides && words !== undefined ? { refusal: words } : {}),
    ...(stops === true && words !== undefined ? { stop: words } : {}),
    notes: comments.map((comment) => `The user's hook ${name} says: ${comment}`),
    messages: [message, decides ? undefined : refusal].flatMap((each) =>
      each === undefined ? [] : [`${name}: ${each}`],
    ),
  };
}
