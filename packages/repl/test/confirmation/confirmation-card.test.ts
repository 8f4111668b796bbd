// @vitest-environment happy-dom
import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { armingMilliseconds } from "@gennai/client/questions/arming";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConfirmationCard } from "#confirmation/confirmation-card.tsx";
import { ChangeDiff } from "#shell/proposal-review.tsx";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const hostile = "<img src=x onerror=alert(1)>\u202Egnp";
const question = askedQuestion({
  requestId: "1",
  intentReflection: hostile,
  actionStatement: `Run \`rm -rf ${hostile}\``,
  impactStatement: "It may not be possible to undo this.",
  modelClaim: hostile,
  computed: { risk: "medium", paths: [hostile], rule: "floor.delete", reason: hostile, policySha256: "" },
  actionJson: JSON.stringify({ tool: "Bash", arguments: { command: `rm -rf ${hostile}`, timeout: 3 }, paths: [] }),
  offeredScopes: ["once", "session"],
  patterns: [{ id: "p1", text: "rm *.tmp", rule: "r", matchedBefore: [], wouldMatch: ["rm a.tmp"], wouldNotMatch: [] }],
});

let root: HTMLElement;
let replies: ConfirmationReply[];
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IntersectionObserver", undefined);
  root = document.createElement("div");
  document.body.append(root);
  replies = [];
});
afterEach(() => {
  render(null, root);
  root.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const show = (shown: ConfirmationQuestion = question) =>
  act(() => render(h(ConfirmationCard, { question: shown, onAnswer: (reply) => replies.push(reply) }), root));
const wait = (milliseconds: number) => act(() => void vi.advanceTimersByTime(milliseconds));

function button(name: string): HTMLElement {
  const found = [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name);
  if (found === undefined) throw new Error(`There is no button ${name}.`);
  return found;
}

/** As a browser does it: key down, click, on the element that has focus. */
async function enter(element: HTMLElement, options: { readonly repeat?: boolean } = {}): Promise<void> {
  await act(() => {
    element.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, ...options }));
    element.click();
  });
}

const press = (element: Element | null, init: KeyboardEventInit) =>
  act(() => void element?.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, ...init })));

test("the card has the focus, no button of it, and gives it back", async () => {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const prompt = document.body.appendChild(document.createElement("textarea"));
  prompt.focus();
  await show();
  expect(document.activeElement).toBe(root.querySelector(".confirmation"));
  await act(() => render(null, root));
  expect(document.activeElement).toBe(prompt);
  prompt.value = "I am writing";
  await show();
  expect(document.activeElement).toBe(prompt);
  prompt.remove();
});

test("its keys answer once it is armed, and held ones never", async () => {
  await show();
  const card = root.querySelector(".confirmation");
  await press(card, { key: "Enter", ctrlKey: true });
  await wait(armingMilliseconds);
  await press(card, { key: "Enter", ctrlKey: true, repeat: true });
  for (const key of ["Enter", " ", "y", "a", "Backspace"]) await press(card, { key });
  await press(card, { key: "Enter", ctrlKey: true, shiftKey: true });
  expect(replies).toEqual([]);
  await press(card, { key: "Enter", ctrlKey: true });
  expect(replies).toEqual([{ answer: "yes", scope: "once" }]);
});

test("a key denies, and in the field for the reason no key allows", async () => {
  await show();
  await wait(armingMilliseconds);
  const field = root.querySelector(".confirmation-reason");
  await press(field, { key: "Backspace", ctrlKey: true });
  expect(replies).toEqual([]);
  await press(field, { key: "Enter", ctrlKey: true });
  expect(replies).toEqual([{ answer: "no", reason: "" }]);
  await show({ ...question, requestId: "2" });
  await wait(armingMilliseconds);
  await press(root.querySelector(".confirmation"), { key: "Backspace", metaKey: true });
  expect(replies).toHaveLength(2);
});

test("another question begins anew", async () => {
  await show();
  await wait(armingMilliseconds);
  await show({ ...question, requestId: "2" });
  await enter(button("Run"));
  expect(replies).toEqual([]);
});

const choose = (value: string) =>
  act(() => {
    const menu = root.querySelector("select");
    if (menu === null) throw new Error("There is no menu.");
    menu.value = value;
    menu.dispatchEvent(new Event("change", { bubbles: true }));
  });

test("only offered scopes are in the menu; a pattern goes with a longer yes alone", async () => {
  await show();
  expect([...root.querySelectorAll("option")].map(({ textContent }) => textContent)).toEqual([
    "once",
    "for this session",
    "for this session: all like rm *.tmp",
  ]);
  await wait(armingMilliseconds);
  await choose("session:p1");
  expect(root.querySelector(".remember-reach")?.textContent).toContain("Would coverrm a.tmp");
  await enter(button("Run"));
  expect(replies).toEqual([{ answer: "yes", scope: "session", pattern: "p1" }]);
});

test("a no takes its reason along", async () => {
  await show();
  await wait(armingMilliseconds);
  const reason = root.querySelector<HTMLInputElement>(".confirmation-reason");
  await act(() => {
    if (reason === null) return;
    reason.value = " use npm run clean ";
    reason.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await enter(button("Don't run"));
  expect(replies).toEqual([{ answer: "no", reason: "use npm run clean" }]);
});

test("what the model claims stands apart, and all of it is text", async () => {
  await show();
  expect(root.querySelector("img")).toBeNull();
  expect(root.querySelector(".confirmation-command")?.textContent).toBe("rm -rf <img src=x onerror=alert(1)>U+202Egnp");
  expect(root.querySelector("h2")?.textContent).toBe("Run this command?");
  expect(root.querySelector(".confirmation-computed")?.textContent).not.toContain("not checked");
  expect(root.querySelector(".confirmation-claim blockquote")?.textContent).toContain("<img");
  expect(root.querySelector("[style]")).toBeNull();
});

test("what would be kept is a text line by line, shown beside the card", async () => {
  const diff = `--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+${hostile}\n`;
  const shown: string[] = [];
  await act(() => {
    const onAnswer = (reply: ConfirmationReply) => replies.push(reply);
    const onShowDiff = (text: string) => shown.push(text);
    render(h(ConfirmationCard, { question: { ...question, diff }, onAnswer, onShowDiff }), root);
  });
  await act(() => button("Show change").click());
  expect(shown).toEqual([diff]);
  expect(replies).toEqual([]);
  // A longer yes for exactly these changes would mean the same.
  expect([...root.querySelectorAll("option")].map(({ value }) => value)).toEqual(["once", "session:p1"]);
  await act(() => render(h(ChangeDiff, { diff }), root));
  const lines = root.querySelector(".confirmation-diff");
  expect(lines?.textContent).toContain("+++ b/a.txt\n");
  expect(lines?.querySelector(".confirmation-diff-added")?.textContent).toContain("<img src=x");
  expect(lines?.querySelector("img")).toBeNull();
});

describe("what a command has changed", () => {
  const parts = [
    { id: "1", name: "AGENTS.md", rule: "control-files/x", reason: "It steers.", needs: [] },
    { id: "2", name: "a.txt", rule: "", reason: "", needs: [] },
    { id: "3", name: ".git", rule: "", reason: "", needs: ["2"] },
  ];
  const asked = { ...question, patterns: [], offeredScopes: ["once"] as const, parts };
  const box = (name: string): HTMLInputElement => {
    const label = [...root.querySelectorAll("label")].find(({ textContent }) => textContent?.startsWith(name));
    const found = label?.querySelector<HTMLInputElement>("input[type=checkbox]");
    if (found === null || found === undefined) throw new Error(`There is no box ${name}.`);
    return found;
  };
  const ticked = () =>
    [...root.querySelectorAll<HTMLInputElement>("input[type=checkbox]")].map(({ checked }) => checked);
  const names = () => [...root.querySelectorAll(".confirmation-answer")].map(({ textContent }) => textContent);

  test("is listed apart by whether it is asked about; the rest can be kept without it", async () => {
    await show(asked);
    expect([...root.querySelectorAll("fieldset")].map(({ textContent }) => textContent)).toEqual([
      "Asked aboutAGENTS.md It steers. (control-files/x)",
      "Needs no questiona.txt.git",
    ]);
    await wait(armingMilliseconds);
    await choose("rest");
    await enter(button("Keep change"));
    expect(replies).toEqual([{ answer: "yes", scope: "once", dropped: ["1"] }]);
  });

  test("is kept file by file: what needs another one goes and comes with it", async () => {
    await show(asked);
    await act(() => box("a.txt").click());
    expect(ticked()).toEqual([true, false, false]);
    expect(names()).toEqual(["Keep what is ticked", "Discard"]);
    await act(() => box(".git").click());
    expect(ticked()).toEqual([true, true, true]);
    await act(() => box(".git").click());
    await wait(armingMilliseconds);
    await enter(button("Keep what is ticked"));
    expect(replies).toEqual([{ answer: "yes", scope: "once", dropped: ["3"] }]);
  });

  test("with nothing ticked there is only a no", async () => {
    await show(asked);
    await act(() => box("AGENTS.md").click());
    await act(() => box("a.txt").click());
    expect(names()).toEqual(["Discard"]);
  });
});
