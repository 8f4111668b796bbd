import { Code, ConnectError, createClient, createRouterTransport, type Interceptor } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { expect, it } from "vitest";
import { onePlan, planWith } from "../../../../client/test/plan/plan-with.ts";
import type { BranchOutcome } from "../../../src/git/git-branch-mode.ts";
import { branchInterceptor } from "../../../src/session/interceptors/branch-interceptor.ts";
import { planInterceptor, StoredApprovals } from "../../../src/session/interceptors/plan-interceptor.ts";

const token = "t".repeat(43);

function server(interceptor: Interceptor) {
  const calls: string[] = [];
  const transport = createRouterTransport(
    (router) => {
      router.service(AgentService, {
        startTurn: ({ scenario, branchTask }) => {
          calls.push(`StartTurn ${scenario}${branchTask === "" ? "" : ` for ${branchTask}`}`);
          return { turnId: "t" };
        },
      });
      router.service(PlanService, {
        approvePlan: () => ({ approvalToken: token }),
        executePlan: () => {
          calls.push("ExecutePlan");
          return {};
        },
      });
    },
    { transport: { interceptors: [interceptor] } },
  );
  return { calls, agent: createClient(AgentService, transport), plans: createClient(PlanService, transport) };
}

async function codeOf(call: Promise<unknown>): Promise<Code | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );
}

const rows: readonly {
  readonly name: string;
  readonly branch?: string;
  readonly mode?: "branch" | "proposal";
  readonly scenario?: string;
  readonly isHeld?: boolean;
  readonly ahead?: boolean;
  readonly outcome?: BranchOutcome;
  readonly want: { readonly asked: number; readonly calls: readonly string[] };
}[] = [
  { name: "on main", want: { asked: 1, calls: ["StartTurn CODE", "StartTurn CODE"] } },
  {
    name: "on an agent's branch",
    branch: "ai-agent/x",
    want: { asked: 0, calls: ["StartTurn CODE", "StartTurn CODE"] },
  },
  { name: "in Proposal Mode", mode: "proposal", want: { asked: 0, calls: ["StartTurn CODE", "StartTurn CODE"] } },
  {
    name: "for an answer",
    scenario: "RESPOND",
    want: { asked: 0, calls: ["StartTurn RESPOND", "StartTurn RESPOND"] },
  },
  {
    name: "to proposals",
    outcome: { type: "proposal" },
    want: { asked: 1, calls: ["StartTurn ", "StartTurn CODE"] },
  },
  {
    name: "only to look, from then on",
    outcome: { type: "look" },
    want: { asked: 1, calls: ["StartTurn CODE", "StartTurn CODE"] },
  },
  {
    name: "where the server asks with the first write",
    isHeld: false,
    want: { asked: 0, calls: ["StartTurn CODE", "StartTurn CODE"] },
  },
  {
    name: "where the user agreed ahead",
    isHeld: false,
    ahead: true,
    want: { asked: 0, calls: ["StartTurn CODE for mend it", "StartTurn CODE for mend it"] },
  },
  { name: "cancelled", outcome: { type: "cancelled" }, want: { asked: 2, calls: [] } },
];

it.each(rows)(
  "branchInterceptor: $name",
  async ({ branch = "main", mode = "branch", scenario = "CODE", isHeld = true, ahead = false, outcome, want }) => {
    let asked = 0;
    let current: string = branch;
    let editingMode = mode;
    const { agent, calls } = server(
      branchInterceptor({
        isHeld: () => isHeld,
        agreesAhead: () => ahead,
        editingMode: async () => editingMode,
        currentBranch: async () => current,
        prepare: async () => {
          asked++;
          current = outcome === undefined ? "work" : current;
          return outcome ?? { type: "branch", name: "work", how: "created" };
        },
        toProposalMode: async () => {
          editingMode = "proposal";
        },
      }),
    );
    await codeOf(agent.startTurn({ scenario, userInput: "mend it" }));
    await codeOf(agent.startTurn({ scenario, userInput: "mend it" }));
    expect({ asked, calls }).toEqual(want);
  },
);

it("planInterceptor: lets only an approval of this window execute, once", async () => {
  const approvals = new StoredApprovals();
  const plan = planWith(onePlan, { planId: "p" });
  const { digest } = plan;
  const { plans, calls } = server(planInterceptor(approvals, async () => plan));
  const execution = { sessionId: "s", planId: "p", digest, approvalToken: token };
  expect(await codeOf(plans.executePlan(execution))).toBe(Code.FailedPrecondition);
  await plans.approvePlan({ sessionId: "s", planId: "p", digest });
  expect(await codeOf(plans.executePlan({ ...execution, approvalToken: "x".repeat(43) }))).toBe(
    Code.FailedPrecondition,
  );
  expect(await codeOf(plans.executePlan(execution))).toBeUndefined();
  expect(await codeOf(plans.executePlan(execution))).toBe(Code.FailedPrecondition);
  expect(calls).toEqual(["ExecutePlan"]);
});
