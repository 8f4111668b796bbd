import type { SessionEvent } from "@gennai/agent/events/session-event";
import { type Effect, isReadOnly, runsSomething } from "@gennai/governance/effect";
import type { Policy } from "@gennai/governance/policy";
import type { Analysis, ExecutionContext, Found, Judgement, Tool, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { allow, ask, type Verdict } from "@gennai/governance/verdict";
import { errorMessage } from "@gennai/protocol/error-message";
import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import { operationOf, type PathChange } from "@gennai/store/checkpoints/file-state";
import type { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";

/** Milliseconds that a stopped turn waits for the checkpoint after its last call. */
const stopTimeoutMs = 10_000;
/** Maximum files named in an event; the snapshots have all. */
const maxNamed = 200;

export interface TurnCheckpointsOptions {
  readonly checkpoints: Pick<WorkspaceCheckpoints, "open" | "close" | "problem">;
  readonly sessionId: string;
  /** Prepares the tree for these effects, before it is kept and before they happen. Throws `ToolFailure`: then they do not. */
  beforeWrite?(effects: readonly Effect[], signal: AbortSignal): Promise<void>;
  emit(event: SessionEvent, turnId: string): void;
  /** Resolves when the event is durable. */
  commit(event: SessionEvent, turnId: string): Promise<void>;
}

/**
 * Makes a checkpoint around each call that runs something: before the call, or else the call does not run; after it in parallel
 * with the model's next request, and before anything else changes a file. Calls that only change files, and staged commands,
 * need none: of these, change sets record everything.
 */
export class TurnCheckpoints {
  readonly #options: TurnCheckpointsOptions;
  /** Calls for which a user was told that they cannot be undone. */
  readonly #asked = new Set<string>();
  #closing: Promise<void> = Promise.resolve();
  #warned = false;

  constructor(options: TurnCheckpointsOptions) {
    this.#options = options;
  }

  /** Asks before a call that could not be undone. */
  get policy(): Policy {
    return {
      name: "checkpoints",
      kind: "guard",
      decide: ({ analysis, callId }) => {
        const { problem } = this.#options.checkpoints;
        const verdict = analysis.effects.some(runsSomething) ? askWithoutCheckpoint(problem) : allow;
        if (verdict.type === "ask") this.#asked.add(callId);
        return verdict;
      },
    };
  }

  /** Runs a call, with a checkpoint around it where it needs one. */
  async around(
    { name, access, repeatable }: Pick<Tool, "name" | "access" | "repeatable">,
    { effects }: Pick<Analysis, "effects">,
    context: ExecutionContext,
    run: (context: ExecutionContext) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    if (access === "read" || repeatable === true) return run(context);
    if (!effects.every(isReadOnly)) await this.#closing;
    await this.#options.beforeWrite?.(effects, context.signal);
    if (effects.some(isStaged)) return run({ ...context, judge: (found) => this.#judge(found, context) });
    const checkpointId = effects.some(runsSomething) ? await this.#open(name, context) : undefined;
    if (checkpointId === undefined) return run(context);
    try {
      return await run(context);
    } finally {
      this.#closing = this.#close(checkpointId, context);
    }
  }

  /** Resolves when the checkpoint after the last call is complete. The turn does not end before. Never rejects. */
  settle(): Promise<void> {
    return this.#closing;
  }

  /** Prepares the tree when it is known what will be kept. */
  async #judge(found: Found, context: ExecutionContext): Promise<Judgement> {
    const judgement = await context.judge(found);
    if (judgement.type !== "keep") return judgement;
    const kept = found.parts.filter((part) => !judgement.dropped.includes(part));
    try {
      await this.#options.beforeWrite?.(
        kept.flatMap((part) => part.effects),
        context.signal,
      );
    } catch (error) {
      if (error instanceof ToolFailure) return { type: "drop", error: error.toToolError() };
      throw error;
    }
    return judgement;
  }

  async #open(toolName: string, { callId, turnId, signal }: ExecutionContext): Promise<string | undefined> {
    const { checkpoints, sessionId, commit } = this.#options;
    try {
      const checkpointId = await checkpoints.open(sessionId, signal);
      // A command whose server is killed is found by this event alone.
      await commit({ type: "checkpoint-taken", checkpointId, toolCallId: callId, toolName }, turnId);
      return checkpointId;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CheckpointError)) throw error;
      if (error.code !== "git_missing" && !this.#asked.has(callId)) {
        throw new ToolFailure("no_checkpoint", `Nothing ran, because it could not be undone: ${error.message}`, {
          failureClass: "permission_denied",
          hint: "Call it again: then the user is asked whether it may run anyway.",
          retryable: true,
        });
      }
      this.#warn(`Changes of commands in this turn cannot be undone: ${error.message}`, turnId);
      return undefined;
    }
  }

  async #close(checkpointId: string, { turnId, signal: stop }: ExecutionContext): Promise<void> {
    const { checkpoints, emit } = this.#options;
    using limit = timeAfter(stop, stopTimeoutMs);
    try {
      const changes = await Promise.race([checkpoints.close(checkpointId, limit), limit.over]);
      emit(closedEvent(checkpointId, changes), turnId);
    } catch (error) {
      this.#warn(`The changes of the last command were not recorded: ${errorMessage(error)}`, turnId);
    }
  }

  #warn(text: string, turnId: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.emit({ type: "warning", text }, turnId);
  }
}

function closedEvent(
  checkpointId: string,
  changes: readonly PathChange[],
): Extract<SessionEvent, { readonly type: "checkpoint-closed" }> {
  return {
    type: "checkpoint-closed",
    checkpointId,
    files: changes.slice(0, maxNamed).map((change) => ({ path: change.path, operation: operationOf(change) })),
    more: Math.max(0, changes.length - maxNamed),
  };
}

function isStaged(effect: Effect): boolean {
  return effect.type === "exec" && effect.staged === true;
}

/** The verdict on a call that runs something, where the last snapshot failed. Without git nobody is asked: it is never there. */
export function askWithoutCheckpoint(problem: WorkspaceCheckpoints["problem"]): Verdict {
  if (problem === undefined || problem.code === "git_missing") return allow;
  return ask({
    code: "no_checkpoint",
    rule: "checkpoints/none",
    reason: `Changes of this call cannot be undone: ${problem.message}`,
  });
}

/** Extra time for work after it is stopped: git may hang, and a stop must not wait for ever. When it is over, the signal aborts. */
function timeAfter(
  stop: AbortSignal,
  milliseconds: number,
): Disposable & { readonly signal: AbortSignal; readonly over: Promise<never> } {
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => undefined);
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = setTimeout(() => {
      const reason = new Error(`it took longer than ${milliseconds / 1000} s after the stop`);
      abort.abort(reason);
      reject(reason);
    }, milliseconds);
  };
  if (stop.aborted) begin();
  else stop.addEventListener("abort", begin, { once: true });
  return {
    signal: abort.signal,
    over,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", begin);
    },
  };
}
