// @vitest-environment happy-dom

import { armingMilliseconds } from "@gennai/client/questions/arming";
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BranchQuestion } from "#branch/branch-question.tsx";
import type { ReplControl } from "#control/repl-control";
import type { BranchQuestion as AskedBranch } from "#control/session/branch-store";

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

const wait = (milliseconds: number) => act(() => void vi.advanceTimersByTime(milliseconds));
const button = (name: string) => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name);

/** As a browser does it: key down, click. */
const enter = (element: HTMLElement | undefined, repeat: boolean) =>
  act(() => {
    element?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, repeat }));
    element?.click();
  });

const asked: AskedBranch = { situation: "On main.", wanted: "ai-agent/x", changedFiles: 0, refusal: undefined };

test("no held Enter creates a branch", async () => {
  const branch = { question: signal(asked), busy: signal(false), answer: (given: unknown) => void answers.push(given) };
  await act(() => render(h(BranchQuestion, { control: { branch } as unknown as ReplControl }), root));
  expect(document.activeElement).toBe(root.querySelector("section"));
  await enter(button("Create this branch"), false);
  await wait(armingMilliseconds);
  await enter(button("Create this branch"), true);
  await act(() => button("Create this branch")?.click());
  expect(answers).toEqual([]);
  await enter(button("Create this branch"), false);
  expect(answers).toEqual(["create"]);
});
