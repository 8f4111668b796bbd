import { randomUUID } from "node:crypto";
import type { Answer, Question } from "@gennai/governance/confirmation";
import { ServiceError } from "@gennai/machine/service-error";
import { type ConfirmationReply, judgedAnswer } from "./client-answer.ts";

/** What one person has agreed to. */
export interface FirstYes {
  readonly question: Question;
  /** Names of what they do not want to be kept. */
  readonly without: readonly string[];
  /** Who said it: the user of the session. */
  readonly user: string;
  /** Name of the workspace's directory. */
  readonly workspace: string;
}

export type SecondAnswer =
  | { readonly type: "yes"; readonly by: string; readonly at: number }
  | { readonly type: "no"; readonly by: string; readonly reason: string }
  | { readonly type: "timeout" };

/** The answer of both. */
export function answerOfBoth(yes: Answer & { readonly type: "yes" }, second: SecondAnswer): Answer {
  if (second.type !== "yes") return { ...second, first: { by: yes.by } };
  return { ...yes, second: { by: second.by, at: second.at } };
}

/** How long what one person agreed to waits for another; milliseconds. */
const holdsFor = 10 * 60_000;

/** What waits for a second person. */
export interface Approval extends FirstYes {
  readonly id: string;
  /** Since when and until when it waits; milliseconds since the epoch. */
  readonly since: number;
  readonly expires: number;
}

interface Open {
  readonly approval: Approval;
  readonly settle: (answer: SecondAnswer) => void;
}

/**
 * Asks the second persons of a tenant, where a policy wants two: its approvers, but never who agreed first. All of it ends with the
 * process, as a refusal.
 */
export class Approvals {
  readonly #now: () => number;
  readonly #place: string;
  readonly #open = new Map<string, Open>();

  /**
   * @param now milliseconds since the epoch
   * @param place id of the replica that asks; ids of what waits begin with it
   */
  constructor(now: () => number, place = "") {
    this.#now = now;
    this.#place = place;
  }

  /** Rejects when the signal aborts. */
  async ask(first: FirstYes, { signal }: { readonly signal: AbortSignal }): Promise<SecondAnswer> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<SecondAnswer>();
    const id = `${this.#place}${randomUUID()}`;
    const since = this.#now();
    this.#open.set(id, { approval: { ...first, id, since, expires: since + holdsFor }, settle: resolve });
    const timer = setTimeout(() => resolve({ type: "timeout" }), holdsFor);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    try {
      return await promise;
    } finally {
      this.#open.delete(id);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** What this user may answer, the oldest first. */
  openTo(person: string): readonly Approval[] {
    return [...this.#open.values()].flatMap(({ approval }) => (approval.user === person ? [] : [approval]));
  }

  /** Throws `ServiceError` if it is over, the person's own, or shown under other rules. */
  answer(person: string, id: string, reply: ConfirmationReply, policySha256: string): void {
    const open = this.#open.get(id);
    if (open === undefined) throw new ServiceError("failed_precondition", "This question is over.");
    const { question, user } = open.approval;
    if (user === person) {
      throw new ServiceError("permission_denied", "You agreed already; another person has to agree as well.");
    }
    if (policySha256 !== question.computed.policySha256) {
      throw new ServiceError("failed_precondition", "The question was shown under other rules; list it again.");
    }
    const judged = judgedAnswer(question, reply, person);
    if (judged.type === "yes" && judged.dropped !== undefined) {
      throw new ServiceError("invalid_argument", "A second person agrees to all of it, or to nothing.");
    }
    // Where nothing was said, others may answer.
    if (judged.type !== "yes" && judged.type !== "no") return;
    this.#open.delete(id);
    open.settle(judged.type === "yes" ? { type: "yes", by: person, at: this.#now() } : judged);
  }
}
