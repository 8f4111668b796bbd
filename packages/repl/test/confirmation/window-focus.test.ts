// @vitest-environment happy-dom

import { armingMilliseconds } from "@gennai/client/questions/arming";
import { type Signal, signal } from "@preact/signals";
import { h, render } from "preact";
import { useRef } from "preact/hooks";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useArming } from "#confirmation/use-arming";
import { type WindowFocus, WindowFocusProvider } from "#confirmation/window-focus";

let root: HTMLElement;
let answers: number;
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IntersectionObserver", undefined);
  root = document.createElement("div");
  document.body.append(root);
  answers = 0;
});
afterEach(() => {
  render(null, root);
  root.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function Question() {
  const element = useRef<HTMLButtonElement>(null);
  const { arming } = useArming(element);
  return h("button", {
    ref: element,
    type: "button",
    onPointerDown: () => arming.begin("yes", { repeat: false }),
    onClick: () => {
      if (arming.takes("yes")) answers += 1;
    },
  });
}

const show = (focus: WindowFocus) =>
  act(() => render(h(WindowFocusProvider, { value: focus, children: h(Question, {}) }), root));
const wait = (milliseconds: number) => act(() => void vi.advanceTimersByTime(milliseconds));

/** As a browser does it where something else had the focus: down, focus, click. */
async function clickFromElsewhere(): Promise<void> {
  const button = root.querySelector("button");
  if (button === null) throw new Error("There is no question.");
  await act(() => void button.dispatchEvent(new Event("pointerdown", { bubbles: true })));
  await act(() => void window.dispatchEvent(new Event("focus")));
  await act(() => button.click());
}

const heard = (value: boolean | undefined): Signal<boolean | undefined> => signal(value);

test.each([
  { name: "a page, whose focus is its window's", focus: heard(undefined), taken: 0 },
  { name: "a webview in the window that is worked in", focus: heard(true), taken: 1 },
  { name: "a webview in a window behind others", focus: heard(false), taken: 0 },
])("$name: the click that brings the focus is taken $taken times", async ({ focus, taken }) => {
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  await show(focus);
  await wait(armingMilliseconds);
  await clickFromElsewhere();
  expect(answers).toBe(taken);
});

test("a window that comes to the front takes answers half a second later", async () => {
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  const focus = heard(false);
  await show(focus);
  await wait(10 * armingMilliseconds);
  await act(() => {
    focus.value = true;
  });
  await wait(armingMilliseconds - 1);
  await clickFromElsewhere();
  expect(answers).toBe(0);
  await wait(1);
  await clickFromElsewhere();
  expect(answers).toBe(1);
});

test("a document that gets the focus is in front, whatever its window reported last", async () => {
  const hasFocus = vi.spyOn(document, "hasFocus").mockReturnValue(false);
  await show(heard(false));
  await wait(10 * armingMilliseconds);
  hasFocus.mockReturnValue(true);
  await clickFromElsewhere();
  expect(answers).toBe(0);
  await wait(armingMilliseconds);
  await act(() => void root.querySelector("button")?.dispatchEvent(new Event("pointerdown", { bubbles: true })));
  await act(() => root.querySelector("button")?.click());
  expect(answers).toBe(1);
});
