import { ServiceError } from "@gennai/machine/service-error";

/**
 * Users' actions on a session outside its turns: apply, undo, restore, keep. Several may run at once; the session can be
 * deleted only while none runs, and none starts during or after that.
 */
export class SessionActs {
  #underWay: readonly string[] = [];
  #isLeaving = false;

  /** @param what e.g. `an undo`. Rejects with `ServiceError` */
  async during<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isLeaving) {
      throw new ServiceError("failed_precondition", "The session is being deleted.", {
        reason: "session_leaves",
        hint: "Go on in another session.",
      });
    }
    this.#underWay = [...this.#underWay, what];
    try {
      return await work();
    } finally {
      this.#underWay = this.#underWay.toSpliced(this.#underWay.indexOf(what), 1);
    }
  }

  /** Runs the last action of the session. Rejects with `ServiceError` while another is running. */
  async last<Result>(work: () => Promise<Result>): Promise<Result> {
    const [what] = this.#underWay;
    if (what !== undefined || this.#isLeaving) {
      throw new ServiceError("failed_precondition", `Nothing was deleted: ${what ?? "a deletion"} is under way here.`, {
        reason: "act_under_way",
        hint: "Wait for its end, then delete the session.",
        retryAfterMs: 1_000,
      });
    }
    this.#isLeaving = true;
    try {
      return await work();
    } catch (error) {
      this.#isLeaving = false;
      throw error;
    }
  }
}
