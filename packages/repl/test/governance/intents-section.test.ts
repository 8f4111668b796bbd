// @vitest-environment happy-dom
import { h, render } from "preact";
import { expect, test, vi } from "vitest";
import { IntentsSection, type IntentsSectionProps } from "#governance/intents-section.tsx";

const sha256 = "a".repeat(64);

function shown(view: Partial<IntentsSectionProps["view"]>, props: Partial<IntentsSectionProps> = {}): HTMLElement {
  const root = document.createElement("div");
  const whole = {
    managed: [],
    intents: [],
    intentWarnings: [],
    intentsToAccept: "",
    activeIntentId: "",
    intentsMode: "auto" as const,
  };
  const none = { busy: false, canSelect: true, expansions: [], onSelect: () => undefined, onAccept: () => undefined };
  render(h(IntentsSection, { ...none, ...props, view: { ...whole, ...view } }), root);
  return root;
}

function acceptButton(root: HTMLElement): HTMLButtonElement | undefined {
  return [...root.querySelectorAll("button")].find(({ textContent }) => textContent === "Accept these intents");
}

test("a file of intents that waits for a person is accepted by a button, as it was shown", () => {
  const onAccept = vi.fn<(sha256: string) => void>();
  const button = acceptButton(shown({ intentsMode: "required", intentsToAccept: sha256 }, { onAccept }));
  button?.click();
  expect(onAccept.mock.calls).toEqual([[sha256]]);
});

test.each([
  ["nothing waits", {}, {}, undefined],
  ["there is no session", { intentsToAccept: sha256 }, { canSelect: false }, true],
  ["something else is being done", { intentsToAccept: sha256 }, { busy: true }, true],
])("it cannot be pressed where %s", (_name, view, props, disabled) => {
  expect(acceptButton(shown(view, props))?.disabled).toBe(disabled);
});

const intent = {
  id: "INT-001",
  name: "Work",
  status: "active",
  ownedScope: ["src/**"],
  constraints: [],
  selectable: true,
};

test.each([
  ["can be selected", {}, {}, { disabled: false, why: "" }],
  [
    "waits for a person who accepts the file",
    { intentsToAccept: sha256 },
    {},
    { disabled: true, why: "Accept these intents first." },
  ],
  [
    "is not in progress, whatever else is missing",
    { intents: [{ ...intent, selectable: false }], intentsToAccept: sha256 },
    {},
    { disabled: true, why: "Only an intent in progress can be selected." },
  ],
  [
    "has no session that could serve it",
    {},
    { canSelect: false },
    { disabled: true, why: "Send a prompt first: it begins a session." },
  ],
])("an intent that %s says so beside its button", (_name, view, props, wanted) => {
  const root = shown({ intents: [intent], ...view }, props);
  const button = root.querySelector<HTMLButtonElement>('[aria-label="Select INT-001"]');
  const why = root.querySelector(`[id="${button?.getAttribute("aria-describedby")}"]`)?.textContent ?? "";
  expect({ disabled: button?.disabled, why }).toEqual(wanted);
});
