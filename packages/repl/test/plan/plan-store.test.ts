import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { expect, test } from "vitest";
import { planChecks } from "#plan/plan-checks";
import { PlanStore, type PlanStoreOptions } from "#plan/plan-store";
import { onePlan, planWith } from "../../../client/test/plan/plan-with.ts";

const planJson = onePlan;
const draft = planWith(planJson, { state: "draft" });
const token = "A".repeat(43);

function deskWith(more: Partial<PlanStoreOptions["plans"]> = {}) {
  const calls: string[] = [];
  const said = (state: Plan["state"], call: string): Plan => {
    calls.push(call);
    return { ...draft, state };
  };
  const plans: PlanStoreOptions["plans"] = {
    list: async () => [],
    get: async () => draft,
    submit: async () => ({ plan: said("draft", "submit"), issues: [], envelopeKind: "plan" }),
    preview: async () => ({ plan: said("awaiting_approval", "preview"), actions: [] }),
    approve: async (_, digest) => {
      calls.push(`approve ${digest}`);
      return { approvalToken: token, expires: new Date(5_000) };
    },
    execute: async (_, __, given) => said("verifying", `execute ${given}`),
    verify: async (_, __, given) => ({ plan: said("done", `verify ${given}`), results: [] }),
    ...more,
  };
  const written: string[] = [];
  const write: PlanStoreOptions["write"] = async (request) => {
    written.push(request);
    return "output";
  };
  return { calls, written, store: new PlanStore({ plans, write, undo: async () => undefined, now: () => 1_000 }) };
}

test("a plan goes its way in two actions, each step with the token that it needs", async () => {
  const { store, calls } = deskWith();
  await store.plan("do it");
  expect(store.state.value.shown?.digest).toBe(draft.digest);
  await store.approveAndRun();
  expect(calls).toEqual(["submit", "preview", `approve ${draft.digest}`, `execute ${token}`, `verify ${token}`]);
  expect(store.state.value).toMatchObject({
    plan: { state: "done" },
    approval: undefined,
    busy: undefined,
    problem: undefined,
  });
});

test("nothing is sent that does not check out here", async () => {
  const { store, calls } = deskWith();
  await store.plan("do it");
  await store.execute();
  expect(store.state.value.problem).toMatchObject({ action: "Execute", message: "Approve the plan first." });
  await store.verify();
  expect(calls).toEqual(["submit", "preview"]);
});

test("a token is spent with the try", async () => {
  const { store, calls } = deskWith({ execute: () => Promise.reject(new Error("The workspace moved on.")) });
  await store.plan("do it");
  await store.approveAndRun();
  expect(store.state.value.problem?.message).toBe("The workspace moved on.");
  await store.execute();
  expect(store.state.value.problem?.message).toBe("Approve the plan first.");
  expect(calls).toHaveLength(3);
});

test("output that is not a plan is shown with its issues, and asked for again", async () => {
  const issues = [{ path: "payload.steps", message: "must hold at least one step", level: "schema" }];
  const { store, written } = deskWith({ submit: async () => ({ plan: undefined, issues, envelopeKind: "plan" }) });
  await store.plan("do it");
  expect(store.state.value.rejected).toEqual({ raw: "output", issues, envelopeKind: "plan" });
  await store.regenerate();
  expect(written[1]).toContain("- payload.steps: must hold at least one step\n");
  // Neither the first try nor the second wrote a plan for it.
  expect(store.state.value.goal).toBe("do it");
});

test("after a reload, what a run changed can be taken back", async () => {
  const { store } = deskWith({ list: async () => [{ ...draft, state: "done", executed: true }] });
  const event = (body: MessageInitShape<typeof InvokeEventSchema>) => store.handle(create(InvokeEventSchema, body));
  event({ turnId: "run", event: { case: "planChanged", value: { planId: "1", stepId: "s" } } });
  event({ turnId: "run", event: { case: "changeSetApplied", value: { changeSetId: "run" } } });
  await store.load();
  expect(store.state.value.changeSetId).toBe("run");
  expect(planChecks(store.facts).rollback).toEqual({ allowed: true });
  event({ event: { case: "changeSetUndone", value: { changeSetId: "run" } } });
  expect(store.state.value.changeSetId).toBeUndefined();
});

test("of plans that events name before any is shown, the one named last is", async () => {
  const { store } = deskWith({ list: async () => [{ ...draft, planId: "2" }, draft] });
  for (const planId of ["1", "2"]) {
    store.handle(create(InvokeEventSchema, { event: { case: "planChanged", value: { planId } } }));
  }
  await expect.poll(() => store.state.value.plan?.planId).toBe("2");
});
