import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientRegistry } from "./client-registry.ts";
import type { PendingRequests } from "./pending-requests.ts";
import type { AnswerTo, WorkspaceChannel } from "./workspace-answer.ts";

/** Milliseconds a client has for a read or a change, and to end a command that has timed out. */
const answerMs = 60_000;

/** Milliseconds to wait for the client when no turn runs: it has usually just attached, or just left. */
const attachMs = 5_000;

/** What the requests need to know of the session. */
export interface AskingSession {
  readonly clients: ClientRegistry;
  readonly requests: PendingRequests;
  /** Id of the running turn; empty if none runs. */
  turnId(): string;
  /** Aborts when the starting or running turn is stopped; undefined if there is none. */
  turnSignal(): AbortSignal | undefined;
  /** Milliseconds to wait for a client that holds the files. */
  readonly waitForClientMs: number;
  /** Called when no client holds the files and the turn must wait. */
  onWaiting(): void;
  /** Outside a turn: reads new events of other processes, so that requests can be logged. */
  catchUp(): Promise<void>;
}

/** Access to a session's files through client requests. Changes are durable before they are sent; reads need not be. */
export class SessionWorkspaceChannel implements WorkspaceChannel {
  readonly #session: AskingSession;

  constructor(session: AskingSession) {
    this.#session = session;
  }

  async ask<Type extends WorkspaceOperation["type"]>(
    operation: Extract<WorkspaceOperation, { readonly type: Type }>,
    options: { readonly signal?: AbortSignal | undefined; readonly onOutput?: (text: string) => void } = {},
  ): Promise<AnswerTo<Type>> {
    const { requests, turnId, turnSignal } = this.#session;
    const changes = operation.type === "change" || operation.type === "run";
    const untilStopped = AbortSignal.any([options.signal, turnSignal()].filter((signal) => signal !== undefined));
    // Once a change was sent, always wait for its end.
    const signal = changes ? (options.signal ?? new AbortController().signal) : untilStopped;
    untilStopped.throwIfAborted();
    if (turnId() === "") await this.#session.catchUp();
    const clientId = await this.#holder(untilStopped);
    if (clientId === undefined) throw unreachable(operation, "nobody");
    const end = await requests.ask(
      { kind: "workspace", operation, clientId },
      {
        ability: "workspace",
        turnId: turnId(),
        signal,
        answerMs: answerMs + timeOf(operation),
        durable: changes,
        ...(options.onOutput === undefined ? {} : { onProgress: options.onOutput }),
      },
    );
    if (end.type !== "answered" || end.answer.kind !== "workspace") throw unreachable(operation, end.type);
    const { answer } = end.answer;
    if (answer.type === "failure") throw answer.failure;
    if (isAnswerTo(answer, operation.type)) return answer;
    throw unreachable(operation, end.type);
  }

  /** The newest client that holds the files. Undefined if none attached in time. */
  async #holder(signal: AbortSignal): Promise<string | undefined> {
    const { clients, waitForClientMs, turnSignal } = this.#session;
    const here = clients.newest("workspace");
    if (here !== undefined) return here;
    this.#session.onWaiting();
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const onAbort = (): void => reject(signal.reason);
    const waitMs = turnSignal() === undefined ? Math.min(attachMs, waitForClientMs) : waitForClientMs;
    const timer = setTimeout(() => resolve(undefined), waitMs);
    using _listening = clients.onChange(() => {
      const came = clients.newest("workspace");
      if (came !== undefined) resolve(came);
    });
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** Milliseconds that the client may spend on the operation itself. */
function timeOf(operation: WorkspaceOperation): number {
  return operation.type === "run" ? operation.timeoutMs : 0;
}

function isAnswerTo<Type extends WorkspaceOperation["type"]>(
  answer: { readonly type: string },
  type: Type,
): answer is AnswerTo<Type> {
  return answer.type === type;
}

function unreachable({ type }: WorkspaceOperation, end: string): ToolFailure {
  const mayHaveHappened = (type === "change" || type === "run") && end !== "nobody";
  const why = end === "nobody" ? "is not attached" : "did not answer in time";
  return new ToolFailure(
    "workspace_unreachable",
    mayHaveHappened
      ? `The client that holds the files ${why}: whether it was done is not known.`
      : `The client that holds the files ${why}.`,
    {
      failureClass: mayHaveHappened ? "partial_execution" : "timeout",
      hint: "Tell the user: the session has to be open where its files are. Look at the files before you repeat a change.",
      retryable: true,
    },
  );
}
