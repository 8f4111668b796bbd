import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ProposalText } from "../../src/documents/proposal-diff.ts";
import { ProposalTexts } from "../../src/review/proposal-texts.ts";

const change: ProposedChange = {
  id: "c1",
  path: "a.txt",
  operation: "update",
  unifiedDiff: "",
  newContent: "b\n",
  baseSha256: "",
  conflict: false,
  warning: "",
  hunks: [],
};
const proposal: Proposal = { proposalId: "p", toolCallId: "t", changes: [change], hasConflicts: false, warnings: [] };

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
