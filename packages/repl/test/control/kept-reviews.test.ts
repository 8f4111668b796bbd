// @vitest-environment happy-dom

import { decide, newReview } from "@gennai/client/host/review-state";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { signal } from "@preact/signals";
import { expect, test, vi } from "vitest";
import { KeptReviews } from "#control/kept-reviews";
import { keepStateIn, keptStateFrom } from "#control/kept-state";
import { oneHunk, proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";

const changes: readonly ProposedChange[] = [proposedChange({ id: "a", path: "a.ts", hunks: [oneHunk("1")] })];
const proposal = (proposalId: string): Proposal => proposalOf(changes, proposalId);
const reviewed = (proposalId: string, text: string) =>
  decide(newReview(proposalId), "a", ["1"], { type: "edited", text });

const settings = {
  showThinking: false,
  backend: "",
  model: "",
  modelUrl: "",
  editingMode: "branch",
  scenario: "",
} as const;
const launch = { clientId: "c", clientName: "c", version: "1", workspace: "", sessionId: "", state: null, settings };
const page = { launch };

test("reviews come back, the newest first, and what is not a review does not", () => {
  const reviews = new KeptReviews(page, []);
  reviews.set(reviewed("p", "one"));
  reviews.set(reviewed("q", "two"));
  reviews.set(reviewed("p", "three"));
  const kept: unknown[] = JSON.parse(JSON.stringify(reviews.toJson()));
  const again = new KeptReviews(page, [...kept, 7, { proposalId: 7 }]);
  expect(again.of(proposal("p"))).toEqual(reviewed("p", "three"));
  expect(again.of(proposal("q"))).toEqual(reviewed("q", "two"));
  expect(again.of(proposal("new"))).toEqual(newReview("new"));
  expect(again.toJson()).toEqual([reviewed("p", "three"), reviewed("q", "two")]);
});

test("a host keeps 64 KiB: what does not fit is left out, the oldest first", async () => {
  const reviews = signal<readonly unknown[]>([]);
  const saved: unknown[] = [];
  const leaving = new AbortController();
  const state = () => ({ ...keptStateFrom({ draft: "words" }), reviews: reviews.value });
  keepStateIn({ saveState: (value) => saved.push(value) }, state(), { signal: leaving.signal }, state);
  reviews.value = [reviewed("new", "é".repeat(20_000)), reviewed("large", "x".repeat(30_000)), reviewed("old", "x")];
  await vi.waitFor(() => expect(saved).toHaveLength(1));
  leaving.abort();
  expect(new TextEncoder().encode(JSON.stringify(saved[0])).length).toBeLessThan(64 * 1024);
  expect(keptStateFrom(saved[0]).reviews).toEqual([reviews.value[0], reviews.value[2]]);
  expect(keptStateFrom(saved[0]).draft).toBe("words");
});

test("a host that holds reviews is told about each, and reports those made elsewhere", () => {
  const told: unknown[] = [];
  const host = {
    launch: { ...launch, reviews: [reviewed("p", "one")] },
    saveReview: (state: unknown) => told.push(state),
  };
  const reviews = new KeptReviews(host, [reviewed("p", "of a page")]);
  expect(reviews.of(proposal("p"))).toEqual(reviewed("p", "one"));
  reviews.set(reviewed("p", "two"));
  reviews.hear(JSON.parse(JSON.stringify(reviewed("p", "three"))));
  expect(reviews.of(proposal("p"))).toEqual(reviewed("p", "three"));
  expect({ told, own: reviews.toJson() }).toEqual({ told: [reviewed("p", "two")], own: [] });
});
