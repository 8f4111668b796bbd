// @vitest-environment happy-dom

import { newReview, type ReviewState } from "@gennai/client/host/review-state";
import type { ReviewToApply } from "@gennai/client/host/window-requests";
import { sha256Hex } from "@gennai/protocol/digest";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ReviewOutcome } from "#review/review-outcome.tsx";
import { ReviewPanel, type ReviewPanelProps } from "#review/review-panel.tsx";
import { proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";

const hostile = '<img src=x onerror="alert(1)"><script>alert(1)</script>\u202E';
const base = "one\ntwo\nthree\nfour\nfive\n";
const fresh = `ONE\ntwo\nthree\nfour\n${hostile}\n`;

const bytes = (text: string) => new TextEncoder().encode(text);
const blobs = new Map([base, fresh].map((text) => [sha256Hex(text), bytes(text)]));

const change = proposedChange({
  id: "c",
  path: `src/${hostile}.ts`,
  newContentBlob: { sha256: sha256Hex(fresh), size: fresh.length, mediaType: "text/plain" },
  baseSha256: sha256Hex(base),
  hunks: [1, 5].map((line) => ({
    id: `h${line}`,
    oldRange: { start: line, count: 1 },
    newRange: { start: line, count: 1 },
    lines: ["-x", "+y"],
  })),
});
const proposal = proposalOf([change]);

let root: HTMLElement;
let state: ReviewState;
let applied: ReviewToApply | undefined;
let asked: string[];
let outcome: ReviewOutcome;

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  state = newReview("p");
  applied = undefined;
  asked = [];
  outcome = { type: "applied", files: ["a"], changeSetId: "cs" };
});
afterEach(() => {
  render(null, root);
  root.remove();
});

async function show(more: Partial<ReviewPanelProps> = {}): Promise<void> {
  const draw = (): void => {
    const props: ReviewPanelProps = {
      proposal,
      sessionId: "s",
      state,
      settled: undefined,
      blob,
      onState: (next) => {
        state = next;
        draw();
      },
      apply: async (review) => {
        applied = review;
        return outcome;
      },
      onAskAgain: (prompt) => asked.push(prompt),
      ...more,
    };
    render(h(ReviewPanel, props), root);
  };
  await act(draw);
  await settle();
}

const blob = async (sha256: string): Promise<Uint8Array> => {
  const content = blobs.get(sha256);
  if (content === undefined) throw new Error("There is no such content.");
  return content;
};

async function settle(): Promise<void> {
  await act(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
}

async function press(key: string, options: { readonly repeat?: boolean } = {}): Promise<void> {
  const target = root.contains(document.activeElement) ? document.activeElement : root.querySelector(".review");
  await act(
    () =>
      void target?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options })),
  );
  await settle();
}

async function click(name: string): Promise<void> {
  const button = [...root.querySelectorAll("button")].find(({ textContent }) => textContent?.startsWith(name) === true);
  if (button === undefined) throw new Error(`There is no button ${name}.`);
  await act(() => button.click());
  await settle();
}

test("a held key decides nothing, and keys in a field are text", async () => {
  await show();
  await press("j");
  await press("y", { repeat: true });
  expect(state.decisions).toEqual({});
  const note = root.querySelector<HTMLTextAreaElement>(".apply-note textarea");
  await act(() => void note?.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true })));
  expect(state.decisions).toEqual({});
});

test("content from elsewhere is text, and every character of it can be seen", async () => {
  await show();
  expect(root.querySelector("script, img")).toBeNull();
  expect(root.querySelector(".diff")?.parentElement?.parentElement?.parentElement?.textContent).toContain(
    "<script>alert(1)</script>U+202E",
  );
  expect(root.textContent).not.toContain("\u202E");
  expect(root.querySelector("[style]")).toBeNull();
});

test("what is not what its digest says is not shown, and not kept", async () => {
  await show({ blob: async (sha256) => (sha256 === change.newContentBlob?.sha256 ? bytes("forged\n") : blob(sha256)) });
  expect(root.textContent).toContain("is not what its digest says");
  expect(root.textContent).not.toContain("forged");
  await press("j");
  await press("y");
  expect(state.decisions).toEqual({});
  await click("Keep file");
  await click("Apply 2 hunks");
  await click("Apply now");
  await settle();
  expect(applied).toBeUndefined();
  expect(root.querySelector(".apply-bar [role=alert]")?.textContent).toContain("is not what its digest says");
});

test("a refusal says which file changed and offers to ask again", async () => {
  outcome = { type: "refused", reason: "src/a.ts changed.", changedFiles: ["src/a.ts"] };
  await show();
  await click("Keep all");
  await click("Apply 2 hunks");
  await click("Apply now");
  await vi.waitFor(() => expect(root.textContent).toContain("Nothing was written. src/a.ts changed."));
  await click("Ask for the change again");
  expect(asked).toEqual([
    '"src/a.ts" has changed since you made the proposal. Read again and propose the change again.',
  ]);
  await click("Back to the review");
  expect(state.decisions).toEqual({ c: { h1: { type: "keep" }, h5: { type: "keep" } } });
});

test.each<{ readonly name: string; readonly outcome: ReviewOutcome; readonly offers: readonly string[] }>([
  { name: "nothing was kept", outcome: { type: "nothing-kept" }, offers: [] },
  { name: "it was taken back", outcome: { type: "undone" }, offers: [] },
  {
    name: "it could not be written",
    outcome: { type: "refused", reason: "src/a.ts changed.", changedFiles: [] },
    offers: ["Ask for the change again"],
  },
  {
    name: "it was written",
    outcome: { type: "applied", files: ["a"], changeSetId: "cs" },
    offers: ["Undo what was applied"],
  },
])("what was proposed offers no undo before it is written, and no decision after the end: $name", async (row) => {
  const buttons = () => [...root.querySelectorAll("button")].map(({ textContent }) => textContent ?? "");
  await show();
  expect(buttons().filter((name) => /^(Keep|Refuse|Undo|Edit)/.test(name))).toEqual([
    ...["Keep all", "Refuse all", "Keep file", "Refuse file"],
    ...["Keep", "Refuse", "Edit", "Keep", "Refuse", "Edit"],
  ]);
  await show({ settled: row.outcome, onUndo: async () => undefined });
  expect(buttons().filter((name) => /^(Keep|Refuse|Undo|Edit|Ask)/.test(name))).toEqual(row.offers);
});

test("a change that conflicts can only be refused", async () => {
  const conflict = { ...change, conflict: true, warning: "The file changed." };
  await show({ proposal: { ...proposal, changes: [conflict] } });
  for (const key of ["j", "y"]) await press(key);
  await click("Keep all");
  expect(state.decisions).toEqual({});
  await press("n");
  expect(state.decisions).toEqual({ c: { h1: { type: "undo" } } });
});
