import type { Question } from "@gennai/governance/confirmation";

/** A question of the gate that waits, for people who sit at no client. */
export interface OpenQuestion {
  /** Exactly what a client would show. */
  readonly question: Question;
  /** What is done, without secrets. */
  readonly maskedStatement: string;
  readonly requestId: string;
  /** Name of the workspace's directory. */
  readonly workspace: string;
  /** Whether a client that can answer is attached. */
  readonly attended: boolean;
  /** Tells the clients, e.g. who was asked. */
  readonly tell: (text: string) => void;
  /** Rejects with `ServiceError` if the question is over. @param by who answered, and by what way */
  readonly answer: (
    said: { readonly answer: "yes" | "no"; readonly reason: string },
    by: { readonly person: string; readonly way: string },
  ) => Promise<void>;
}

/** Puts questions to people who sit at no client. */
export interface Elsewhere {
  /** Milliseconds that this question may wait until they are told and have answered; undefined: they are not asked. */
  waits(question: Question, options: Pick<OpenQuestion, "attended">): Promise<number | undefined>;
  /** Asks until it is disposed. */
  ask(open: OpenQuestion): Disposable;
}
