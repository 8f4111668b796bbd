import { AgentSession } from "@gennai/client/session/agent-session";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type AttemptQuestions, namedQuestion, namedUserQuestions } from "./attempt-questions.ts";

/** What is shown of an attempt that works. */
export interface WatchedAttempt {
  /** The call that runs or ran last, e.g. `Bash npm test`; empty before the first one. */
  readonly call: string;
  /** The newest text of its model. */
  readonly words: string;
  /** True if it waits for a person's answer. */
  readonly asks: boolean;
}

/** Characters of a model's text that are shown. */
const maxWords = 400;

/** Follows the session of an attempt: shows its progress, and asks its questions here. */
export class AttemptWatch implements Disposable {
  readonly #shown = signal<WatchedAttempt>({ call: "", words: "", asks: false });
  readonly #over = new AbortController();
  readonly #open = new Set<string>();

  constructor(options: {
    /** The session in which the attempts were started. */
    readonly session: AgentSession;
    readonly sessionId: string;
    readonly number: number;
    readonly questions: AttemptQuestions;
  }) {
    void this.#follow(options);
  }

  get shown(): ReadonlySignal<WatchedAttempt> {
    return this.#shown;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  /** Never rejects: after the stream has ended for good, the list of attempts still shows their progress. */
  async #follow({
    session,
    sessionId,
    number,
    questions,
  }: ConstructorParameters<typeof AttemptWatch>[0]): Promise<void> {
    const { signal: over } = this.#over;
    const identity = {
      ...session.identity,
      editor: {
        confirm: (question, options) => questions.confirm(namedQuestion(question, number), options),
        askUser: (asked, options) =>
          questions.askUser({ ...asked, questions: namedUserQuestions(asked.questions, number) }, options),
      } satisfies NonNullable<AgentSession["identity"]["editor"]>,
    };
    try {
      const own = await AgentSession.resume(session.client, identity, sessionId, { signal: over });
      for await (const event of own.follow({ afterSeq: 0n, signal: over })) {
        if (event.event.case === "confirmationRequest") questions.asked(event.event.value.requestId, sessionId);
        if (event.event.case === "clientRequestWaits") questions.waits(event.event.value.requestId);
        this.#show(event);
      }
    } catch {
      // The attempt is over, or the server cannot be reached, which the session itself reports.
    }
  }

  #show({ event }: InvokeEvent): void {
    const before = this.#shown.peek();
    switch (event.case) {
      case "toolCall":
        this.#shown.value = { ...before, call: callWords(event.value.name, event.value.argumentsJson), words: "" };
        break;
      case "assistantDelta":
        this.#shown.value = { ...before, words: (before.words + event.value.text).slice(-maxWords) };
        break;
      case "confirmationRequest":
        this.#asks(event.value.requestId, true);
        break;
      case "userQuestionRequest":
        this.#asks(event.value.requestId, true);
        break;
      case "clientRequestResolved":
        this.#asks(event.value.requestId, false);
        break;
      default:
        break;
    }
  }

  #asks(requestId: string, isOpen: boolean): void {
    if (isOpen) this.#open.add(requestId);
    else this.#open.delete(requestId);
    this.#shown.value = { ...this.#shown.peek(), asks: this.#open.size > 0 };
  }
}

/** Characters of a call that are shown. */
const maxCall = 120;

/** A tool's name, and the argument that identifies the call. */
export function callWords(name: string, argumentsJson: string): string {
  let args: unknown;
  try {
    args = JSON.parse(argumentsJson);
  } catch {
    return name;
  }
  const known = ["command", "file_path", "path", "pattern"].map((key) =>
    Object.entries(args ?? {}).find(([one]) => one === key),
  );
  const said = known.map((entry): unknown => entry?.[1]).find((value) => typeof value === "string");
  return typeof said === "string" ? `${name} ${said.replaceAll(/\s+/g, " ").trim()}`.slice(0, maxCall) : name;
}
