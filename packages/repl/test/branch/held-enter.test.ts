// @vitest-environment happy-dom

import { armingMilliseconds } from "@gennai/client/questions/arming";
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BranchQuestion } from "#branch/branch-question.tsx";
import { FirstCommitQuestion } from "#branch/first-commit-question.tsx";
import type { ReplControl } from "#control/repl-control";
import type { BranchQuestion as AskedBranch } from "#control/session/branch-store";
import type { FirstCommitQuestion as AskedFirstCommit } from "#control/session/first-commit-store";

const planned = { sha256: "1", branch: "main", fileCount: 1, files: ["a"], leftOutCount: 0, leftOut: [] };
let root: HTMLElement;
let answers: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IntersectionObserver", undefined);
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  root = document.body.appendChild(document.createElement("div"));
  answers = [];
});
afterEach(() => {
  render(null, root);
  root.remove();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function shown(asked: { readonly firstCommit?: AskedFirstCommit; readonly branch?: AskedBranch }): ReplControl {
  const answer = (given: unknown) => void answers.push(given);
  const branch = {
    question: signal(asked.branch),
    busy: signal(false),
    answer,
    firstCommit: { question: signal(asked.firstCommit), answer },
  };
  return { branch } as unknown as ReplControl;
}

const wait = (milliseconds: number) => act(() => void vi.advanceTimersByTime(milliseconds));
const button = (name: string) => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name);

/** As a browser does it: key down, click. */
const enter = (element: HTMLElement | undefined, repeat: boolean) =>
  act(() => {
    element?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, repeat }));
    element?.click();
  });

const situation = { situation: "On main.", wanted: "ai-agent/x", changedFiles: 0, refusal: undefined };

test.each([
  {
    what: FirstCommitQuestion,
    asked: { firstCommit: { planned, refusal: undefined } as unknown as AskedFirstCommit },
    yes: "Commit 1 file",
    answer: true,
  },
  { what: BranchQuestion, asked: { branch: situation }, yes: "Create this branch", answer: "create" },
])("no held Enter says $yes", async ({ what, asked, yes, answer }) => {
  await act(() => render(h(what, { control: shown(asked) }), root));
  expect(document.activeElement).toBe(root.querySelector("section"));
  await enter(button(yes), false);
  await wait(armingMilliseconds);
  await enter(button(yes), true);
  await act(() => button(yes)?.click());
  expect(answers).toEqual([]);
  await enter(button(yes), false);
  expect(answers).toEqual([answer]);
});
