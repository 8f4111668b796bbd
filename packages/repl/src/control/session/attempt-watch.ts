import { AgentSession } from "@gennai/client/session/agent-session";
import { callSubject } from "@gennai/client/view/call-subject";
import { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ConfirmationStore, UserQuestionStore } from "../../confirmation/confirmation-store.ts";

/** What is shown of an attempt that works. */
export interface WatchedAttempt {
  /** The call that runs or ran last, e.g. `Bash npm test`; empty before the first one. */
  readonly call: string;
  /** The newest text of its model. */
  readonly words: string;
  /** True if it waits for a person's answer. */
  readonly asks: boolean;
}

/** Where its questions are asked, together with those of the session: each has the number of its attempt. */
export interface AttemptDesk {
  readonly confirmations: Pick<ConfirmationStore, "confirm" | "waits">;
  readonly userQuestions: Pick<UserQuestionStore, "askUser">;
}

/** Characters of a model's text, and of a call, that are shown. */
const maxWords = 400;
const maxCall = 120;

/** Follows the session of an attempt: shows its progress, and asks its questions here. */
export class AttemptWatch implements Disposable {
  readonly #shown = signal<WatchedAttempt>({ call: "", words: "", asks: false });
  readonly shown: ReadonlySignal<WatchedAttempt> = this.#shown;
  readonly #over = new AbortController();
  readonly #session = new SessionView();

  constructor(options: {
    /** The session in which the attempts were started. */
    readonly session: AgentSession;
    readonly sessionId: string;
    readonly number: number;
    readonly desk: AttemptDesk;
  }) {
    void this.#follow(options);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  /** Never rejects: after the stream has ended for good, the list of attempts still shows their progress. */
  async #follow({
    session,
    sessionId,
    number,
    desk: { confirmations, userQuestions },
  }: ConstructorParameters<typeof AttemptWatch>[0]): Promise<void> {
    const { signal: over } = this.#over;
    const name = `Attempt ${number}`;
    const identity = {
      ...session.identity,
      editor: {
        confirm: (question, options) =>
          confirmations.confirm({ ...question, sessionId, title: `${name}: ${question.title}` }, options),
        askUser: ({ questions }, options) => {
          const named = questions.map((one) => ({
            ...one,
            header: one.header === "" ? name : `${name}: ${one.header}`,
          }));
          return userQuestions.askUser({ questions: named }, options);
        },
      } satisfies NonNullable<AgentSession["identity"]["editor"]>,
    };
    try {
      const own = await AgentSession.resume(session.client, identity, sessionId, { signal: over });
      for await (const event of own.follow({ afterSeq: 0n, signal: over })) {
        if (event.event.case === "clientRequestWaits") confirmations.waits(event.event.value.requestId);
        this.#show(event);
      }
    } catch {
      // The attempt is over, or the server cannot be reached, which the session itself reports.
    }
  }

  #show(event: InvokeEvent): void {
    this.#session.apply(event);
    const last = (kind: "tool-call" | "assistant") =>
      this.#session.cells.findLast(({ item }) => item.peek().kind === kind)?.item.peek();
    const [call, said] = [last("tool-call"), last("assistant")];
    this.#shown.value = {
      call:
        call?.kind === "tool-call" ? `${call.name} ${callSubject(call.argumentsJson)}`.trim().slice(0, maxCall) : "",
      words: said?.kind === "assistant" ? said.text.slice(-maxWords) : "",
      asks: this.#session.facts.peek().questions.size > 0,
    };
  }
}
