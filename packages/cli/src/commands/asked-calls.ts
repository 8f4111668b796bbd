import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { elicitation, elicitedAnswer, hasForms, howToAnswer } from "./elicited-answer.ts";

export interface CallPorts {
  /** Ends the call. */
  readonly signal: AbortSignal;
  readonly ask: (
    question: ConfirmationQuestion,
    options: { readonly signal: AbortSignal },
  ) => Promise<ConfirmationReply>;
}

/** A question until it is answered. */
interface Asked {
  readonly id: string;
  readonly question: ConfirmationQuestion;
  readonly reply: PromiseWithResolvers<ConfirmationReply>;
}

/**
 * Calls of a client and the questions in their course. By the revision 2026-07-28 a call is answered with a question, and comes again
 * with the client's answer; for clients before it the library asks, and calls again by itself.
 */
export class AskedCalls {
  /** Those that wait for an answer, by what their client sends back. */
  readonly #waiting = new Map<string, AskedCall>();

  /**
   * The call's result, or the next question in its course.
   * @param capabilities of a client before 2026-07-28; later ones send theirs with each call
   */
  async next(
    context: ServerContext,
    capabilities: ClientCapabilities | undefined,
    run: (ports: CallPorts) => Promise<CallToolResult>,
  ): Promise<CallToolResult | InputRequiredResult> {
    const state = context.mcpReq.requestState<string>();
    const isNew = state === undefined;
    const { envelope } = context.mcpReq;
    const declared: unknown =
      envelope === undefined ? capabilities : Reflect.get(envelope, CLIENT_CAPABILITIES_META_KEY);
    // A client that was interrupted never comes back with an answer, and its calls are done in order.
    if (isNew && envelope !== undefined) for (const call of this.#waiting.values()) call.leave();
    const call = isNew ? new AskedCall(hasForms(declared), run) : this.#waiting.get(state);
    if (call === undefined) return failed("This call is over. Call the tool again.");
    const answered = await call.next(context);
    if (answered === "asked") {
      this.#waiting.set(call.id, call);
      return call.elicitation();
    }
    this.#waiting.delete(call.id);
    return answered;
  }
}

class AskedCall {
  readonly id = crypto.randomUUID();
  readonly #asks: boolean;
  readonly #ending = new AbortController();
  readonly #result: Promise<CallToolResult>;
  #asked: Asked | undefined;
  #isAsked = Promise.withResolvers<"asked">();

  constructor(asks: boolean, run: (ports: CallPorts) => Promise<CallToolResult>) {
    this.#asks = asks;
    this.#result = run({ signal: this.#ending.signal, ask: (question, options) => this.#ask(question, options) });
  }

  async next(context: ServerContext): Promise<CallToolResult | "asked"> {
    const { signal } = context.mcpReq;
    // Also while the library asks for this call.
    signal.addEventListener("abort", () => this.#ending.abort(signal.reason), { once: true });
    const asked = this.#asked;
    if (asked !== undefined) {
      const reply = elicitedAnswer(asked.id, asked.question, context);
      if (reply !== undefined) this.#answer(asked, reply);
    }
    return Promise.race([this.#result, this.#isAsked.promise]);
  }

  elicitation(): InputRequiredResult {
    const asked = this.#asked;
    return inputRequired({
      ...(asked === undefined ? {} : elicitation(asked.id, asked.question)),
      requestState: this.id,
    });
  }

  leave(): void {
    if (this.#asked !== undefined)
      this.#answer(this.#asked, { answer: "nobody", reason: "The client went on without an answer." });
  }

  async #ask(question: ConfirmationQuestion, { signal }: { readonly signal: AbortSignal }): Promise<ConfirmationReply> {
    if (!this.#asks) return { answer: "nobody", reason: howToAnswer };
    signal.throwIfAborted();
    const asked: Asked = { id: crypto.randomUUID(), question, reply: Promise.withResolvers() };
    this.#asked = asked;
    this.#isAsked.resolve("asked");
    const withdraw = () => {
      this.#close(asked);
      asked.reply.reject(signal.reason);
    };
    signal.addEventListener("abort", withdraw, { once: true });
    try {
      return await asked.reply.promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
    }
  }

  #answer(asked: Asked, reply: ConfirmationReply): void {
    this.#close(asked);
    asked.reply.resolve(reply);
  }

  #close(asked: Asked): void {
    if (this.#asked !== asked) return;
    this.#asked = undefined;
    this.#isAsked = Promise.withResolvers();
  }
}

export function failed(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
