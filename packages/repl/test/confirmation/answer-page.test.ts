// @vitest-environment happy-dom
import { armingMilliseconds } from "@gennai/client/questions/arming";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AnswerPage } from "#confirmation/answer-page.tsx";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const code = "c".repeat(32);
const digest = "a".repeat(64);
let root: HTMLElement;
let sent: unknown[];
/** What the server answers, by what is asked of it. */
let answers: (asked: object) => { readonly status: number; readonly body: object };

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IntersectionObserver", undefined);
  sent = [];
  vi.stubGlobal("fetch", async (_path: string, { body }: { readonly body: string }) => {
    const asked: object = JSON.parse(body);
    sent.push(asked);
    const { status, body: answered } = answers(asked);
    return new Response(JSON.stringify(answered), { status });
  });
  window.sessionStorage.clear();
  window.location.hash = `#${code}`;
  root = document.createElement("div");
  document.body.append(root);
});
afterEach(() => {
  render(null, root);
  root.remove();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const linked = {
  token: "t",
  workspace: "w",
  requestId: "1",
  expires: 1_900_000_000_000,
  question: {
    ...askedQuestion({ requestId: "1", actionSha256: digest, offeredScopes: ["once", "session"] }),
    diff: "+one\n+two\n",
  },
};

const button = (name: string) => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name);

/** Opens the page and gives a PIN. @param ends whether the change is on the screen as a whole */
async function open({ ends, pin = "12345678" }: { readonly ends: boolean; readonly pin?: string }): Promise<void> {
  vi.spyOn(HTMLElement.prototype, "scrollHeight", "get").mockReturnValue(ends ? 0 : 900);
  await act(() => render(h(AnswerPage, { page: window }), root));
  const input = root.querySelector("input");
  if (input === null) throw new TypeError("There is no field.");
  input.value = pin;
  await act(() => void input.dispatchEvent(new Event("input", { bubbles: true })));
  await act(async () => {
    root.querySelector("form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await vi.advanceTimersByTimeAsync(0);
  });
}

async function press(name: string): Promise<void> {
  await act(() => void vi.advanceTimersByTime(armingMilliseconds));
  await act(async () => {
    const found = button(name);
    found?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    found?.click();
    await vi.advanceTimersByTimeAsync(0);
  });
}

test("the code leaves the address bar, and a yes for once is sent with the digest of what was shown", async () => {
  answers = () => ({ status: 200, body: linked });
  await open({ ends: true });
  expect(window.location.hash).toBe("");
  await press("Keep change");
  expect(sent).toEqual([
    { code, pin: "12345678" },
    { token: "t", answer: "yes", actionSha256: digest },
  ]);
  expect(root.textContent).toContain("Your yes was taken");
});

const isOff = (name: string) => button(name)?.disabled;

async function scrollToEnd(): Promise<void> {
  vi.spyOn(HTMLElement.prototype, "scrollTop", "get").mockReturnValue(900);
  await act(() => void root.querySelector(".answer-diff")?.dispatchEvent(new Event("scroll")));
}

const { diff: _diff, ...unrun } = linked.question;
const writes = JSON.stringify({ tool: "Write", arguments: { path: "a.txt", content: "one\ntwo" } });

test.each<[string, object, string, string]>([
  ["a change", linked.question, "Keep change", "+one"],
  ["an action that has not run", { ...unrun, actionStatement: "Write a.txt", actionJson: writes }, "Write", "two"],
])("%s can be read as a whole, and there is no yes before its end", async (_what, question, yes, shown) => {
  answers = () => ({ status: 200, body: { ...linked, question } });
  await open({ ends: false });
  expect(root.querySelector(".answer-diff")?.textContent).toContain(shown);
  expect([isOff(yes), button("Discard")?.disabled ?? button("Don't write")?.disabled]).toEqual([true, false]);
  await act(() => void vi.advanceTimersByTime(armingMilliseconds));
  await act(async () => {
    const keys = { key: "Enter", ctrlKey: true, bubbles: true };
    root.querySelector(".confirmation")?.dispatchEvent(new KeyboardEvent("keydown", keys));
    await vi.advanceTimersByTimeAsync(0);
  });
  expect(sent).toHaveLength(1);
  await scrollToEnd();
  expect(isOff(yes)).toBe(false);
});

test("each part has its name, rule and reason, and there is no choice among them", async () => {
  const parts = [
    { id: "1", name: "Makefile", rule: "floor/x", reason: "It is run.", needs: [] },
    { id: "2", name: "a.txt", rule: "", reason: "", needs: [] },
  ];
  answers = () => ({ status: 200, body: { ...linked, question: { ...linked.question, parts } } });
  await open({ ends: true });
  const lists = [...root.querySelectorAll(".parts")].map(({ textContent }) => textContent);
  expect(lists).toEqual(["Asked aboutMakefile It is run. (floor/x)", "Needs no questiona.txt"]);
  expect(root.querySelector("input[type=checkbox], select")).toBeNull();
  await press("Keep change");
  expect(sent.at(-1)).toEqual({ token: "t", answer: "yes", actionSha256: digest });
});

test.each([429, 500])("an answer that does not arrive (%s) can be given again", async (status) => {
  answers = () => ({ status: 200, body: linked });
  await open({ ends: true });
  answers = () => ({ status, body: {} });
  await press("Keep change");
  expect(root.querySelector("[role=alert]")).not.toBeNull();
  expect(window.sessionStorage.getItem("gennai.answer")).toBe("t");
  answers = () => ({ status: 200, body: { answer: "yes" } });
  await press("Keep change");
  expect(root.textContent).toContain("Your yes was taken");
});

test("an answer to a question that is over ends the page", async () => {
  answers = () => ({ status: 200, body: linked });
  await open({ ends: true });
  answers = () => ({ status: 409, body: {} });
  await press("Discard");
  expect(root.textContent).toContain("This question is over");
  expect(window.sessionStorage.getItem("gennai.answer")).toBeNull();
});

test("a reload while the server is away keeps the question", async () => {
  window.location.hash = "";
  window.sessionStorage.setItem("gennai.answer", "t");
  answers = () => ({ status: 503, body: {} });
  await act(async () => {
    render(h(AnswerPage, { page: window }), root);
    await vi.advanceTimersByTimeAsync(0);
  });
  answers = () => ({ status: 200, body: linked });
  await act(async () => {
    button("Try again")?.click();
    await vi.advanceTimersByTimeAsync(0);
  });
  expect(button("Keep change")).toBeDefined();
});

test("a second link in the same tab leads to its own door, and its code leaves the address bar", async () => {
  answers = () => ({ status: 200, body: linked });
  await open({ ends: true });
  const second = "d".repeat(32);
  await act(async () => {
    window.location.hash = `#${second}`;
    window.dispatchEvent(new Event("hashchange"));
    await vi.advanceTimersByTimeAsync(0);
  });
  expect([window.location.hash, window.sessionStorage.getItem("gennai.answer")]).toEqual(["", null]);
  await open({ ends: true });
  expect(sent.at(-1)).toEqual({ code: second, pin: "12345678" });
});

test("no PIN is no try", async () => {
  answers = () => ({ status: 403, body: {} });
  await open({ ends: true, pin: " " });
  expect(sent).toEqual([]);
});

test("a wrong PIN shows nothing of the question", async () => {
  answers = () => ({ status: 403, body: { code: "permission_denied", message: "" } });
  await open({ ends: true });
  expect(root.querySelector(".confirmation")).toBeNull();
  expect(root.textContent).toContain("The PIN is wrong");
});
