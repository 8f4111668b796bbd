import type { ProposalReview, ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { proposalFromMessage } from "@gennai/protocol/model/session/proposal";
import type { ItemList, ItemStart, OpenCell } from "./item-list.ts";
import { reviewView } from "./view-from-wire.ts";
import type { ProposalItem } from "./view-item.ts";

/** The proposals of a session, with the decisions about each and their result. */
export class ProposalItems {
  readonly #items: ItemList;
  readonly #cells = new Map<string, OpenCell<ProposalItem>>();

  constructor(items: ItemList) {
    this.#items = items;
  }

  of(proposalId: string): ProposalItem | undefined {
    return this.#cells.get(proposalId)?.item.peek();
  }

  propose(place: ItemStart, message: ProposedChanges): void {
    const proposal = proposalFromMessage(message);
    const item: ProposalItem = { kind: "proposal", proposal, review: undefined, changeSetId: undefined, undone: false };
    this.#cells.set(proposal.proposalId, this.#items.add(place, item));
  }

  review(message: ProposalReview): void {
    this.#change(message.proposalId, { review: reviewView(message) });
  }

  applied(proposalId: string, changeSetId: string): void {
    this.#change(proposalId, { changeSetId });
  }

  undone(changeSetId: string): void {
    for (const { item } of this.#cells.values()) {
      if (item.value.changeSetId === changeSetId) item.value = { ...item.value, undone: true };
    }
  }

  #change(proposalId: string, fields: Partial<ProposalItem>): void {
    const cell = this.#cells.get(proposalId);
    if (cell !== undefined) cell.item.value = { ...cell.item.value, ...fields };
  }
}
