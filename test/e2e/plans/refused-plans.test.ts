import { connectPlans } from "@gennai/client/connection/connection";
import { SessionPlans } from "@gennai/client/plan/session-plans";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";

const signal = new AbortController().signal;
const ls = { type: "command", command: "ls" };
const inSeedWords = { id: "a", title: "A", intent: "to look", actions: [ls], verify: [ls] };
const inContract = {
  id: "a",
  actions: [ls],
  verification_plan: [ls],
  tool: "Bash",
  description: "Looks",
  risk_level: "low",
  requires_confirmation: false,
};

function planOf(step: object): string {
  return JSON.stringify({ id: "p", title: "t", summary: "s", risks: [], steps: [step] });
}

describe("seed 003 §6: a violation of the plan contract is a hard reject (400) with an actionable reason", () => {
  test("a plan with none of the contract's fields", async () => {
    const fields = ["risk_level", "requires_confirmation", "verification_plan", "tool", "description"];
    await using server = await startTestServer();
    const { sessionId } = await server.client.startSession({});
    const { url, token } = server;
    const response = await fetch(`${url}/gennai.agent.v1.PlanService/SubmitPlan`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ sessionId, text: planOf(inSeedWords) }),
    });
    const { code, message } = (await response.json()) as Readonly<Record<string, string>>;
    expect([response.status, code]).toEqual([400, "invalid_argument"]);
    for (const field of fields) expect(message).toMatch(new RegExp(`Step "a"[:,] (?:${field}|.*${field})`));

    const plans = new SessionPlans(connectPlans({ baseUrl: url, token }), sessionId);
    const { plan, issues, envelopeKind } = await plans.submit(planOf(inSeedWords), { signal });
    const named = issues.map(({ path }) => path.replace("steps[0].", ""));
    expect([plan, envelopeKind]).toEqual([undefined, "plan"]);
    expect(named).toEqual(expect.arrayContaining([...fields]));
    expect(await plans.list({ signal })).toEqual([]);
    const taken = await plans.submit(planOf(inContract), { signal });
    expect([taken.plan?.state, taken.issues]).toEqual(["draft", []]);
  });
});
