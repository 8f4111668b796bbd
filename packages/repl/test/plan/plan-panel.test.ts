// @vitest-environment happy-dom
import type { Plan, PlanStep } from "@gennai/protocol/model/governance/plan";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import { PlanPanel } from "#plan/plan-panel.tsx";
import { PlanSteps } from "#plan/plan-steps.tsx";
import { PlanStore, type PlanStoreOptions } from "#plan/plan-store";

const root = document.body.appendChild(document.createElement("div"));
afterEach(() => render(null, root));

const unused = () => Promise.reject(new Error("Not here."));

function shownStore(write: PlanStoreOptions["write"], envelopeKind: string): PlanStore {
  const submit = async () => ({ plan: undefined, issues: [], envelopeKind });
  const plans = {
    list: async () => [],
    submit,
    get: unused,
    preview: unused,
    approve: unused,
    execute: unused,
    verify: unused,
  };
  const store = new PlanStore({ plans, write, undo: unused });
  render(h(PlanPanel, { store }), root);
  return store;
}

test.each([
  ["error", "message", "The model says that it cannot be done."],
  ["chat", "text", "The model answered without a plan."],
])("what the model says in an envelope of kind %s is shown, and the goal stays", async (kind, field, title) => {
  const words = 'There is no "src".';
  const store = shownStore(async () => JSON.stringify({ kind, payload: { [field]: words } }), kind);
  await act(() => store.plan("Mend src"));
  expect(root.querySelector(".plan-rejected p")?.textContent).toBe(`${title} ${words}`);
  expect(root.querySelector("textarea")?.value).toBe("Mend src");
});

test("the goal of a turn that fails stays in the field, with why it failed", async () => {
  const store = shownStore(() => Promise.reject(new Error("The provider refuses the key.")), "");
  await act(() => store.plan("Mend src"));
  expect(root.querySelector("[role=alert]")?.textContent).toContain("The provider refuses the key.");
  expect(root.querySelector("textarea")?.value).toBe("Mend src");
});

const step: PlanStep = {
  id: "s",
  title: "S",
  intent: "",
  description: "",
  tool: "Write",
  risk: "medium",
  requiresConfirmation: true,
  verificationPlan: [],
  dependsOn: [],
  state: "pending",
  failureClass: "",
  evidence: "",
};

test.each([
  [{}, "may ask before it runs"],
  [{ risk: "high" }, "will ask before it runs"],
  [{ requiresConfirmation: false }, undefined],
  [{ state: "running" }, undefined],
  [{ risk: "high", state: "executed" }, undefined],
] as const)("a step says whether it asks only while it waits: %j", (change, words) => {
  const plan = { planJson: "", steps: [{ ...step, ...change }] } as unknown as Plan;
  const props = { plan, shown: undefined, results: [], sideBySide: false, busy: false, onSubmit: () => undefined };
  render(h(PlanSteps, props), root);
  expect(root.querySelector(".badge")?.textContent).toBe(words);
});
