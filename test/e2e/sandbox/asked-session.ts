import { turnOutcome } from "@gennai/client/session/turn-state";
import type { ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  ConfirmationScope,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { TestServer } from "@gennai/testkit/test-server";
import { eventsOf, startSession, Watcher } from "../rpc/session-client.ts";

export type Said = "once" | "session" | "workspace" | "no";

/** What the model read of a call, and why it failed. */
export interface CallEnd {
  readonly output: string;
  readonly error: string;
  readonly exitCode?: number | undefined;
}

export interface AskedTurn extends CallEnd {
  /** In the order they came. */
  readonly questions: readonly ConfirmationRequest[];
}

/** A session with a client that answers. */
export class AskedSession implements AsyncDisposable {
  readonly #server: TestServer;
  readonly #sessionId: string;
  readonly #editor: Watcher;
  #questions = 0;
  #turns = 0;

  readonly #withinMs: number;

  private constructor(server: TestServer, sessionId: string, editor: Watcher, withinMs: number) {
    this.#withinMs = withinMs;
    this.#server = server;
    this.#sessionId = sessionId;
    this.#editor = editor;
  }

  /** @param options.withinMs until the next question, or the end, of a turn */
  static async start(
    server: TestServer,
    { withinMs = 90_000, ...options }: { readonly proposal?: boolean; readonly withinMs?: number } = {},
  ): Promise<AskedSession> {
    const sessionId = await startSession(server, { ...options, interactive: true });
    return new AskedSession(server, sessionId, await Watcher.attach(server, sessionId), withinMs);
  }

  /** The next of the commands. Each question gets the next of the answers; one too many is a no. */
  turn(...answers: readonly Said[]): Promise<AskedTurn> {
    return this.#turn((index) => answers[index] ?? "no");
  }

  /** The next of the commands, with a yes to every question. */
  turnWithYes(): Promise<AskedTurn> {
    return this.#turn(() => "once");
  }

  /** The first turn of the session, with all results of its calls. */
  async wholeTurn(
    ...answers: readonly Said[]
  ): Promise<Pick<AskedTurn, "questions"> & { readonly results: readonly CallEnd[] }> {
    const { questions } = await this.#turn((index) => answers[index] ?? "no");
    // What is staged is proposed behind the model's last word.
    await this.#editor.end();
    return { questions, results: eventsOf(this.#editor.events, "toolResult") };
  }

  get id(): string {
    return this.#sessionId;
  }

  /** All of them so far. */
  proposals(): readonly ProposedChanges[] {
    return eventsOf(this.#editor.events, "proposedChanges");
  }

  /** Of all proposals so far. */
  proposedPaths(): readonly string[] {
    return this.proposals().flatMap(({ changes }) => changes.map(({ path }) => path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#editor[Symbol.asyncDispose]();
  }

  async #turn(answerTo: (index: number) => Said): Promise<AskedTurn> {
    const clientTurnId = `turn-${(this.#turns += 1)}`;
    await this.#server.client.startTurn({ sessionId: this.#sessionId, userInput: "go", clientTurnId });
    const questions: ConfirmationRequest[] = [];
    for (;;) {
      const { question, result } = await this.#editor.until(
        (events) => {
          const asked = eventsOf(events, "confirmationRequest")[this.#questions];
          // The next turn may begin once this one has ended.
          const over = events.filter((event) => turnOutcome(event) !== undefined).length >= this.#turns;
          const ended = over ? eventsOf(events, "toolResult")[this.#turns - 1] : undefined;
          return asked === undefined && ended === undefined ? undefined : { question: asked, result: ended };
        },
        { withinMs: this.#withinMs },
      );
      if (question === undefined) {
        return { questions, output: result?.output ?? "", error: result?.error ?? "", exitCode: result?.exitCode };
      }
      const said = answerOf(answerTo(questions.length));
      this.#questions += 1;
      questions.push(question);
      await this.#editor.answer(question, said);
    }
  }
}

function answerOf(said: Said) {
  switch (said) {
    case "no":
      return { answer: ConfirmationAnswer.NO };
    case "once":
      return { answer: ConfirmationAnswer.YES, scope: ConfirmationScope.ONCE };
    case "session":
      return { answer: ConfirmationAnswer.YES, scope: ConfirmationScope.SESSION };
    case "workspace":
      return { answer: ConfirmationAnswer.YES, scope: ConfirmationScope.WORKSPACE };
  }
}
