import { Code, ConnectError } from "@connectrpc/connect";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { AnswerInit } from "@gennai/protocol/model/session/editor-messages";
import type { BackOff } from "../connection/back-off.ts";
import type { AgentClient, CallOptions } from "../connection/connection.ts";
import type { Editor } from "../connection/editor.ts";
import { retryingCall } from "../connection/retrying-call.ts";
import { type BoundRequest, bindRequest, requestIdOf } from "./client-answer.ts";

export interface BridgeOptions {
  readonly client: AgentClient;
  readonly sessionId: string;
  readonly clientId: string;
  readonly editor: Editor;
  /** The server refused an answer, and not because another client answered first. */
  readonly onProblem?: (problem: BridgeProblem) => void;
  readonly backOff?: BackOff;
  readonly now?: () => number;
}

export interface BridgeProblem {
  readonly requestId: string;
  readonly error: unknown;
}

/**
 * Answers the requests in a session's events through an editor: each once, several at a time, none that is already
 * answered. Feed it every event, in order. Disposing aborts what is still open.
 */
export class Bridge implements AsyncDisposable {
  readonly #options: BridgeOptions;
  readonly #seen = new Set<string>();
  readonly #open = new Map<string, AbortController>();
  readonly #running = new Set<Promise<void>>();
  readonly #replayed = new Map<string, BoundRequest>();
  #quiet: ReturnType<typeof setTimeout> | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  handle(event: InvokeEvent): void {
    if (this.#replayed.size > 0) this.#waitForQuiet();
    if (event.event.case === "clientRequestResolved") {
      this.#resolve(event.event.value.requestId);
      return;
    }
    const requestId = requestIdOf(event);
    if (requestId === undefined || this.#seen.has(requestId)) return;
    if (event.resolved) {
      this.#seen.add(requestId);
      return;
    }
    const request = bindRequest(event, this.#options.editor, {
      clientId: this.#options.clientId,
      fetchContent: (sha256, options) => this.#fetchContent(sha256, options),
    });
    if (request === undefined) return;
    this.#seen.add(requestId);
    if (request.changesNothing === true || this.#isFresh(event)) this.#start(request);
    else {
      this.#replayed.set(requestId, request);
      this.#waitForQuiet();
    }
  }

  /** Resolves when every request that was started is answered or over. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#quiet);
    this.#replayed.clear();
    for (const open of this.#open.values()) open.abort(new RequestOver());
    await this.idle();
  }

  /** An older request comes from a replay: its resolution may be a few events behind it, and effects cannot be unmade. */
  #isFresh(event: InvokeEvent): boolean {
    if (event.time === undefined) return true;
    const time = Number(event.time.seconds) * 1000 + event.time.nanos / 1e6;
    return (this.#options.now ?? Date.now)() - time < 1000;
  }

  #waitForQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      const requests = [...this.#replayed.values()];
      this.#replayed.clear();
      for (const request of requests) this.#start(request);
    }, quietMilliseconds);
  }

  #resolve(requestId: string): void {
    this.#seen.add(requestId);
    this.#replayed.delete(requestId);
    this.#open.get(requestId)?.abort(new RequestOver());
  }

  #start(request: BoundRequest): void {
    const controller = new AbortController();
    this.#open.set(request.requestId, controller);
    const running = this.#answer(request, controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) this.#options.onProblem?.({ requestId: request.requestId, error });
      })
      .finally(() => {
        this.#open.delete(request.requestId);
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  async #answer(request: BoundRequest, signal: AbortSignal): Promise<void> {
    const output = new OutputQueue((text) =>
      this.#submit(request, { case: "commandOutput", value: { requestId: request.requestId, text } }, signal),
    );
    const answer = await request.answer({ signal, onOutput: (text) => output.push(text) });
    signal.throwIfAborted();
    await output.sent();
    await this.#submit(request, answer, signal);
  }

  async #fetchContent(sha256: string, { signal }: CallOptions): Promise<Uint8Array> {
    const { client, sessionId, backOff } = this.#options;
    const response = await retryingCall(() => client.getBlob({ sessionId, sha256 }, { signal }), {
      signal,
      attempts: 6,
      ...(backOff === undefined ? {} : { backOff }),
    });
    return response.content;
  }

  async #submit(request: BoundRequest, event: AnswerInit, signal: AbortSignal): Promise<void> {
    const { client, sessionId, clientId, backOff } = this.#options;
    try {
      const response = await retryingCall(
        () => client.submitClientEvent({ sessionId, clientId, ownerEpoch: request.ownerEpoch, event }, { signal }),
        { signal, attempts: Number.POSITIVE_INFINITY, ...(backOff === undefined ? {} : { backOff }) },
      );
      if (response.status === "ERROR") throw new Error(response.error);
    } catch (error) {
      if (!wasAnswered(error)) throw error;
    }
  }
}

/** Milliseconds without an event after which a replay is taken to be over. */
const quietMilliseconds = 150;

/** Another client answered first, or our own answer arrived before the connection broke. */
function wasAnswered(error: unknown): boolean {
  return error instanceof ConnectError && (error.code === Code.AlreadyExists || error.code === Code.FailedPrecondition);
}

class RequestOver extends Error {
  override readonly name = "RequestOver";

  constructor() {
    super("The request is over.");
  }
}

/** Sends output in order, one message in flight; new output joins the next message. */
class OutputQueue {
  readonly #send: (text: string) => Promise<void>;
  #waiting = "";
  #sending: Promise<void> | undefined;

  constructor(send: (text: string) => Promise<void>) {
    this.#send = send;
  }

  push(text: string): void {
    this.#waiting += text;
    this.#sending ??= this.#drain();
  }

  async sent(): Promise<void> {
    await this.#sending;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting !== "") {
        const text = this.#waiting;
        this.#waiting = "";
        await this.#send(text);
      }
    } catch {
      // Live output is a courtesy: the answer holds all of it, and says so if the server cannot be reached.
      this.#waiting = "";
    } finally {
      this.#sending = undefined;
    }
  }
}
