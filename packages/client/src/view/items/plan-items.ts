import type { PlanChanged } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { planStateWords, stepStateWords } from "@gennai/protocol/model/governance/plan";
import { failureClassWords } from "@gennai/protocol/model/governance/tool-outcome";
import type { ItemList, ItemStart, OpenCell } from "./item-list.ts";
import type { PlanItem } from "./view-item.ts";

/** The plans of a session, each in one place, made from the events that name them. */
export class PlanItems {
  readonly #items: ItemList;
  readonly #cells = new Map<string, OpenCell<PlanItem>>();

  constructor(items: ItemList) {
    this.#items = items;
  }

  change(place: ItemStart, message: PlanChanged): void {
    const { planId, digest, text } = message;
    const known = this.#cells.get(planId);
    const before = known?.item.value;
    const step = {
      stepId: message.stepId,
      state: stepStateWords.fromMessage(message.stepState) ?? "pending",
      failureClass: failureClassWords.fromMessage(message.failureClass) ?? "",
    };
    const steps = before?.steps ?? [];
    const at = steps.findIndex(({ stepId }) => stepId === step.stepId);
    const item: PlanItem = {
      kind: "plan",
      planId,
      text,
      state: planStateWords.fromMessage(message.state) ?? "unknown",
      digest: digest === "" ? (before?.digest ?? "") : digest,
      title: message.title === "" ? (before?.title ?? "") : message.title,
      steps: step.stepId === "" ? steps : at === -1 ? [...steps, step] : steps.with(at, step),
    };
    if (known === undefined) this.#cells.set(planId, this.#items.add(place, item));
    else known.item.value = item;
  }
}
