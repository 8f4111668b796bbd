import { expect, onTestFinished, test, vi } from "vitest";
import { proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";
import type { ProposalText } from "../../src/documents/proposal-diff.ts";
import { ProposalTexts } from "../../src/review/proposal-texts.ts";

const change = proposedChange({ newContent: "b\n" });
const proposal = proposalOf([change]);

test("a text that could not be had is asked for again, but not with each thing that is drawn", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const text = { base: "a\n", fresh: "b\n" };
  const fetch = vi.fn<() => Promise<ProposalText>>(async () => text);
  fetch.mockRejectedValueOnce(new Error("away"));
  const texts = new ProposalTexts(fetch, () => undefined);
  await texts.loaded(proposal, change);
  const asked = () => [texts.of(proposal, change), fetch.mock.calls.length];
  expect([asked(), asked()]).toEqual([
    [undefined, 1],
    [undefined, 1],
  ]);
  vi.advanceTimersByTime(3000);
  await texts.loaded(proposal, change);
  expect([asked(), asked()]).toEqual([
    [text, 2],
    [text, 2],
  ]);
});
