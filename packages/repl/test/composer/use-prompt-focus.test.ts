// @vitest-environment happy-dom
import { h, render } from "preact";
import { useRef } from "preact/hooks";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { usePromptFocus } from "#composer/use-prompt-focus";

function Prompt({ wanted }: { readonly wanted: boolean }) {
  const box = useRef<HTMLTextAreaElement>(null);
  usePromptFocus(box, wanted);
  return h("div", {}, h("button", {}, "Other"), h("textarea", { ref: box }));
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  render(null, document.body);
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

/** Shows it in a view that has no focus yet. */
async function shown(wanted = true): Promise<void> {
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  await act(() => render(h(Prompt, { wanted }), document.body));
  vi.advanceTimersByTime(100);
  expect(focused()).toBe("BODY");
}

/** As VS Code gives it to a view. */
function getFocus(): void {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  window.dispatchEvent(new Event("focus"));
}

function focused(): string | undefined {
  return document.activeElement?.tagName;
}

const rows: readonly (readonly [string, () => void, string])[] = [
  ["gets the focus", getFocus, "TEXTAREA"],
  [
    "leaves it to a press",
    () => {
      getFocus();
      document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
    },
    "BODY",
  ],
  [
    "leaves it where it is",
    () => {
      document.querySelector("button")?.focus();
      getFocus();
    },
    "BUTTON",
  ],
  [
    "leaves it to a question that waits",
    () => {
      document.body.insertAdjacentHTML(
        "beforeend",
        '<div class="question-tray"><section tabindex="-1"></section></div>',
      );
      getFocus();
    },
    "SECTION",
  ],
];

test.each(rows)("the prompt of a view that gets the focus %s", async (_name, does, wanted) => {
  await shown();
  does();
  vi.advanceTimersByTime(100);
  expect(focused()).toBe(wanted);
});

test("on a page it waits to be pressed", async () => {
  await shown(false);
  getFocus();
  vi.advanceTimersByTime(100);
  expect(focused()).toBe("BODY");
});
