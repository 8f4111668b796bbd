// @vitest-environment happy-dom

import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmergencyControls, type EmergencyControlsProps } from "#governance/emergency-controls.tsx";

let root: HTMLElement;
let switched: unknown[][];
beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  switched = [];
});
afterEach(() => {
  render(null, root);
  root.remove();
});

async function show(
  switches: Partial<EmergencyControlsProps["switches"]>,
  managed: EmergencyControlsProps["managed"] = [],
): Promise<void> {
  const none = { readOnly: false, disableHighImpact: false, stopAll: false, blockedTools: [] };
  const onSwitch: EmergencyControlsProps["onSwitch"] = (...given) => switched.push(given);
  await act(() =>
    render(h(EmergencyControls, { switches: { ...none, ...switches }, busy: false, managed, onSwitch }), root),
  );
}

async function click(label: string): Promise<void> {
  const found = [...root.querySelectorAll("button")].find(
    (button) => button.getAttribute("aria-label") === label || button.textContent === label,
  );
  await act(() => found?.click());
}

test("one press switches on", async () => {
  await show({});
  await click("Stop all");
  expect(switched).toEqual([["stop-all", true, { tool: "", reason: "" }]]);
});

test("lifting asks why first", async () => {
  await show({ readOnly: true, blockedTools: ["curl"] });
  await click("Read-only");
  await click("Lift");
  expect(switched).toEqual([]);
  await click("Leave it on");
  await click("Lift the block of curl");
  const field = root.querySelector<HTMLInputElement>("[aria-label='Why it is lifted']");
  await act(() => {
    if (field === null) return;
    field.value = "It was a drill.";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await click("Lift");
  expect(switched).toEqual([["block-tool", false, { tool: "curl", reason: "It was a drill." }]]);
});

test("what a policy of root switches on is on, names it, and cannot be lifted", async () => {
  const key = { key: "emergency.read_only", value: "true", place: "/etc/gennai/policy.yaml:4" };
  await show({}, [{ name: "acme", contact: "", keys: [key] }]);
  const button = root.querySelector<HTMLButtonElement>('[aria-label="Read-only"]');
  expect(button?.getAttribute("aria-checked")).toBe("true");
  expect(button?.disabled).toBe(true);
  expect(root.querySelector('[role="img"]')?.getAttribute("aria-label")).toContain("acme lays this down");
  await click("Read-only");
  expect(switched).toEqual([]);
});
