// @vitest-environment happy-dom
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UserQuestionStore } from "#confirmation/confirmation-store";
import { UserQuestionCard } from "#confirmation/user-question-card.tsx";

const hostile = "<img src=x onerror=alert(1)>\u202Egnp";
const questions: readonly UserQuestion[] = [
  {
    question: hostile,
    header: "Store",
    multiple: false,
    options: [
      { label: "SQLite", description: hostile },
      { label: "Postgres", description: "" },
    ],
  },
  {
    question: "Which parts?",
    header: "",
    multiple: true,
    options: [
      { label: "api", description: "" },
      { label: "web", description: "" },
    ],
  },
];

let root: HTMLElement;
let replies: UserReply[];
beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  replies = [];
});
afterEach(() => {
  render(null, root);
  root.remove();
});

const show = (id = "1") =>
  act(() => render(h(UserQuestionCard, { asked: { id, questions }, onAnswer: (reply) => replies.push(reply) }), root));

function found<Type extends Element>(selector: string): Type[] {
  return [...root.querySelectorAll<Type>(selector)];
}

const press = (words: string) =>
  act(() =>
    found<HTMLButtonElement>("button")
      .find((one) => one.textContent === words)
      ?.click(),
  );

test("shows the model's text as text, takes no focus, and looks like no question of the gate", async () => {
  await show();
  expect(root.querySelector("img")).toBeNull();
  expect(root.textContent).toContain("The model asks you");
  expect(root.textContent).toContain("permits nothing");
  expect(root.querySelector(".confirmation, .risk")).toBeNull();
  expect(root.contains(document.activeElement)).toBe(false);
  // Each input has words of its own.
  for (const input of found<HTMLInputElement>("input")) {
    expect(input.closest("label") !== null || input.ariaLabel !== null || input.hasAttribute("aria-label")).toBe(true);
  }
});

test("can be left to the model, and closed; nothing of one goes over to the next", async () => {
  await show();
  await press("No answer: decide yourself");
  await act(() => found<HTMLInputElement>("input")[0]?.click());
  await show("2");
  expect(found<HTMLInputElement>("input").some(({ checked }) => checked)).toBe(false);
  await press("Cancel");
  const nothing = { chosen: [], text: "" };
  expect(replies).toEqual([{ end: "answered", answers: [nothing, nothing] }, { end: "cancelled" }]);
});

test("goes away when it is over elsewhere, and answers nothing then", async () => {
  const store = new UserQuestionStore();
  const over = new AbortController();
  const asked = store.askUser({ questions }, { signal: over.signal });
  const [open] = store.open.value;
  over.abort(new Error("Answered in another window."));
  await expect(asked).rejects.toThrow("another window");
  expect(store.open.value).toEqual([]);
  store.answer(open?.id ?? "", { end: "cancelled" });

  const next = store.askUser({ questions }, { signal: new AbortController().signal });
  store.answer(store.open.value[0]?.id ?? "", { end: "cancelled" });
  expect(await next).toEqual({ end: "cancelled" });
  expect(store.open.value).toEqual([]);
});
