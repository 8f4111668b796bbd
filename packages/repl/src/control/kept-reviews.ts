import type { Proposal } from "@gennai/protocol/model/proposal";
import { signal } from "@preact/signals";
import { type ReviewState, reviewFromJson } from "../review/review-state.ts";

/** Reviews that are kept at most. */
const most = 20;

/** Decisions about proposals that are not carried out yet, those of before a reload too. */
export class KeptReviews {
  /** By proposal, the one that changed last at the end. What was kept is parsed when its proposal is here. */
  readonly #states = signal<ReadonlyMap<string, unknown>>(new Map());

  /** @param kept what `toJson` gave */
  constructor(kept: readonly unknown[]) {
    const named = kept.toReversed().map((state) => [proposalIdOf(state), state] as const);
    this.#states.value = new Map(named.filter(([id]) => id !== ""));
  }

  of(proposal: Proposal): ReviewState {
    return reviewFromJson(this.#states.value.get(proposal.proposalId), proposal);
  }

  set(state: ReviewState): void {
    const states = new Map(this.#states.value);
    states.delete(state.proposalId);
    this.#states.value = new Map([...states, [state.proposalId, state] as const].slice(-most));
  }

  /** Newest first: a home may have room for some of them only. */
  toJson(): readonly unknown[] {
    return [...this.#states.value.values()].toReversed();
  }
}

function proposalIdOf(state: unknown): string {
  const id: unknown = typeof state === "object" && state !== null ? Reflect.get(state, "proposalId") : undefined;
  return typeof id === "string" ? id : "";
}
