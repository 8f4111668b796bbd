import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import type { AgentSession } from "@gennai/client/session/agent-session";
import * as z from "zod";

/** What the branch is for that the first write begins. */
export const branchTask = "mcp client";

/** A tool of a session, as its server describes it to a model. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** The result of a call. */
export interface ToolOutput {
  readonly text: string;
  readonly isError: boolean;
}

const requestSchema = z.looseObject({
  messages: z.array(
    z.union([
      z.looseObject({ role: z.literal("tool"), id: z.string(), output: z.string(), isError: z.boolean() }),
      z.looseObject({ role: z.enum(["user", "assistant"]) }),
    ]),
  ),
  tools: z.array(
    z.looseObject({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
  ),
});
type Request = z.infer<typeof requestSchema>;

/** Puts a question in the course of a call before the client's user. */
type AskClient = (
  question: ConfirmationQuestion,
  options: { readonly signal: AbortSignal },
) => Promise<ConfirmationReply>;

/** A call that the client wants, until its result. */
interface Wish {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  readonly ask: AskClient;
  isAsked: boolean;
  output?: ToolOutput;
}

/**
 * Calls a session's tools for a client with its own model. Each call is a turn in which this class takes the model's place, so
 * the session's rules, questions, records and stop apply as for any other call.
 */
export class CalledTools {
  #session: AgentSession | undefined;
  #tools: readonly OfferedTool[] = [];
  #wish: Wish | undefined;
  /** Resolves when the last call is done: one turn at a time, in the order of the calls. */
  #last: Promise<unknown> = Promise.resolve();

  /** Takes the place of a model; see `Editor.callModel`. */
  readonly callModel = async (requestJson: string): Promise<string> => {
    const request = requestSchema.parse(JSON.parse(requestJson));
    return JSON.stringify(this.#answer(request));
  };

  /** Asks the client of the running call; see `Editor.confirm`. */
  readonly confirm: AskClient = async (question, options) =>
    this.#wish?.ask(question, options) ?? { answer: "nobody", reason: "No call of the client is running." };

  /** Runs a first turn, whose model request lists the tools. */
  async open(session: AgentSession, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#session = session;
    await this.#turn("A client of the Model Context Protocol has connected.", { signal });
  }

  /** The tools at the start of the session. */
  get tools(): readonly OfferedTool[] {
    return this.#tools;
  }

  /**
   * Resolves when the call has ended. Rejects when the turn ended without a result, e.g. with a server that went away, and with the
   * signal's reason; then the server has stopped it.
   */
  async call(
    name: string,
    args: object,
    { signal, ask }: { readonly signal: AbortSignal; readonly ask: AskClient },
  ): Promise<ToolOutput> {
    const before = this.#last;
    const call = async (): Promise<ToolOutput> => {
      await before.catch(() => undefined);
      signal.throwIfAborted();
      const wish: Wish = { id: crypto.randomUUID(), name, argumentsJson: JSON.stringify(args), ask, isAsked: false };
      this.#wish = wish;
      try {
        const problem = await this.#turn(`A client of the Model Context Protocol calls ${name}.`, { signal });
        signal.throwIfAborted();
        if (wish.output === undefined) throw new Error(problem === "" ? "The call has no result." : problem);
        return wish.output;
      } finally {
        this.#wish = undefined;
      }
    };
    const called = call();
    this.#last = called;
    return called;
  }

  /** Resolves when no call is under way. */
  async idle(): Promise<void> {
    await this.#last.catch(() => undefined);
  }

  /** @returns the turn's last error; empty: none */
  async #turn(text: string, { signal }: { readonly signal: AbortSignal }): Promise<string> {
    const session = this.#session;
    if (session === undefined) throw new TypeError("No session is open.");
    let problem = "";
    let turnId = "";
    const never = new AbortController().signal;
    const stop = (): void => {
      if (turnId === "") return;
      session.cancelTurn(turnId, "The client cancelled the call.", { signal: never }).catch(() => undefined);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      const events = session.runTurn(
        { text, branchTask },
        {
          // After a cancel, too, its end is awaited: then nothing runs any more.
          signal: never,
          onStart: (turn) => {
            turnId = turn.turnId;
            if (signal.aborted) stop();
          },
        },
      );
      for await (const { event } of events) if (event.case === "error") problem = event.value;
      return problem;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #answer({ messages, tools }: Request): readonly object[] {
    if (this.#tools.length === 0) this.#tools = tools;
    const wish = this.#wish;
    // Also answers requests that are about no call, such as for a summary of a long session.
    if (wish === undefined) return said("A client of the Model Context Protocol decides what is called.");
    if (!wish.isAsked) {
      wish.isAsked = true;
      const { id, name, argumentsJson } = wish;
      return [
        { type: "tool-call", id, name, argumentsJson },
        { type: "finish", reason: "tool-calls" },
      ];
    }
    for (const message of messages) {
      if (message.role === "tool" && "output" in message && message.id === wish.id) {
        wish.output = { text: String(message.output), isError: message.isError === true };
      }
    }
    return said("The client was told.");
  }
}

function said(text: string): readonly object[] {
  return [
    { type: "text-delta", text },
    { type: "finish", reason: "stop" },
  ];
}
