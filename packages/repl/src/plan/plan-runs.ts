import type { Plan } from "@gennai/client/plan";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** What the runs of plans changed, by the session's events. A run's change set has the id of its turn. */
export class PlanRuns {
  readonly #turns = new Map<string, string>();
  readonly #changeSets = new Set<string>();

  handle(event: InvokeEvent): void {
    const { event: body, turnId } = event;
    if (body.case === "planChanged" && body.value.stepId !== "") this.#turns.set(body.value.planId, turnId);
    if (body.case === "changeSetApplied") this.#changeSets.add(body.value.changeSetId);
    if (body.case === "changeSetUndone") this.#changeSets.delete(body.value.changeSetId);
  }

  /** The plan's change set was taken back; called before the event arrives. */
  undone(changeSetId: string): void {
    this.#changeSets.delete(changeSetId);
  }

  /** undefined: the plan has changed nothing, or that was taken back. */
  changeSetOf(plan: Plan | undefined): string | undefined {
    const run = plan === undefined ? undefined : this.#turns.get(plan.planId);
    return run !== undefined && this.#changeSets.has(run) ? run : undefined;
  }
}
