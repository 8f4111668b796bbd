import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type InvokeEventSchema,
  InvokeState,
  InvokeEventSchema as Schema,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { PlanState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { describe, expect, it } from "vitest";
import { factsAfter, noFacts } from "../../src/session/session-facts.ts";

type Init = MessageInitShape<typeof InvokeEventSchema>;
const turnId = "t";
const status = (state: InvokeState, toolName = ""): Init => ({
  turnId,
  event: { case: "status", value: { state, toolName } },
});
const question = (resolved = false): Init => ({
  turnId,
  resolved,
  event: { case: "confirmationRequest", value: { requestId: "q", title: "Run rm?" } },
});
const proposed: Init = {
  event: { case: "proposedChanges", value: { proposalId: "p", changes: [{ id: "c", path: "a.ts" }] } },
};
const applied: Init = {
  event: { case: "changeSetApplied", value: { changeSetId: "s", proposalId: "p", files: [{ path: "a.ts" }] } },
};

const after = (...events: readonly Init[]) =>
  events.map((event) => create(Schema, event)).reduce((facts, event) => factsAfter(facts, event), noFacts);

describe("factsAfter", () => {
  it("knows what runs", () => {
    expect(after(status(InvokeState.RUN_TOOL, "Bash")).turn).toEqual({ turnId, doing: "running Bash" });
    expect(after(status(InvokeState.STARTED), status(InvokeState.CANCELLED)).turn).toBeUndefined();
  });

  it("knows which questions are open", () => {
    expect([...after(question()).questions]).toEqual([["q", "Run rm?"]]);
    expect(after(question(true)).questions.size).toBe(0);
    const masked: Init = {
      event: {
        case: "confirmationRequest",
        value: { requestId: "q", title: "Allow Bash?", maskedStatement: "Run ls" },
      },
    };
    expect([...after(masked).questions.values()]).toEqual(["Run ls"]);
    const ofModel: Init = {
      event: { case: "userQuestionRequest", value: { requestId: "m", questions: [{ question: "Which port?" }] } },
    };
    expect([...after(ofModel).questions.values()]).toEqual(["Which port?"]);
    const resolved: Init = { event: { case: "clientRequestResolved", value: { requestId: "q" } } };
    expect(after(question(), resolved).questions.size).toBe(0);
    expect(after(status(InvokeState.STARTED), question(), status(InvokeState.INTERRUPTED)).questions.size).toBe(0);
  });

  it("knows which proposals wait, and keeps those that do not for their diffs", () => {
    expect([...after(proposed).openProposals.keys()]).toEqual(["p"]);
    const facts = after(proposed, applied);
    expect({ open: facts.openProposals.size, kept: facts.proposals.size }).toEqual({ open: 0, kept: 1 });
  });

  it("knows what can be taken back", () => {
    expect(after(applied).changeSets).toMatchObject([{ changeSetId: "s", paths: ["a.ts"] }]);
    expect(after(applied, { event: { case: "changeSetUndone", value: { changeSetId: "s" } } }).changeSets).toEqual([]);
  });

  it("follows the newest plan", () => {
    const plan: Init = {
      event: { case: "planChanged", value: { planId: "p", state: PlanState.PREVIEW, digest: "d", title: "t" } },
    };
    const step: Init = { event: { case: "planChanged", value: { planId: "p", stepId: "1" } } };
    expect(after(plan, step).plan).toEqual({ planId: "p", state: PlanState.PREVIEW, digest: "d", title: "t" });
  });

  it("is the same object when nothing changed", () => {
    expect(factsAfter(noFacts, create(Schema, { event: { case: "heartbeat", value: {} } }))).toBe(noFacts);
  });
});
