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
async function open({ ends }: { readonly ends: boolean }): Promise<void> {
  vi.spyOn(HTMLElement.prototype, "scrollHeight", "get").mockReturnValue(ends ? 0 : 900);
  await act(() => render(h(AnswerPage, { page: window }), root));
  const input = root.querySelector("input");
  if (input === null) throw new TypeError("There is no field.");
  input.value = "12345678";
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

test("there is no yes before the end of the change was on the screen", async () => {
  answers = () => ({ status: 200, body: linked });
  await open({ ends: false });
  expect([button("Keep change"), button("Discard") !== undefined]).toEqual([undefined, true]);
  vi.spyOn(HTMLElement.prototype, "scrollTop", "get").mockReturnValue(900);
  await act(() => void root.querySelector(".answer-diff")?.dispatchEvent(new Event("scroll")));
  expect(button("Keep change")).toBeDefined();
});

test("a wrong PIN shows nothing of the question", async () => {
  answers = () => ({ status: 403, body: { code: "permission_denied", message: "" } });
  await open({ ends: true });
  expect(root.querySelector(".confirmation")).toBeNull();
  expect(root.textContent).toContain("The PIN is wrong");
});
