import { expect, it } from "vitest";
import { runPolicies } from "#gate/decide/run-policies";
import type { Policy } from "#policy";
import { allow, ask, deny, type Verdict } from "#verdict";
import { inputWith, inside, summary } from "../../policies/effects.ts";

const finding = { code: "no", rule: "r", reason: "Because." };

async function run(
  own: Verdict,
  external: Policy["decide"],
  more: Partial<Policy> = {},
): Promise<{ asked: boolean; verdict: string }> {
  let asked = false;
  const policies: readonly Policy[] = [
    {
      name: "theirs",
      kind: "observer",
      stage: "external",
      decide: (...args) => {
        asked = true;
        return external(...args);
      },
      ...more,
    },
    { name: "ours", kind: "guard", decide: () => own },
  ];
  const input = inputWith({
    toolName: "Read",
    access: "read" as const,
    analysis: { statement: "", effects: [{ type: "read" as const, path: inside("a") }] },
  });
  const { verdict } = await runPolicies(policies, input, { timeoutMs: 20, signal: new AbortController().signal });
  return { asked, verdict: summary(verdict) };
}

it.each([
  ["allow", allow, allow, true, "allow"],
  ["a deny of our own: theirs do not run", deny(finding), allow, false, "deny no"],
  ["their allow does not loosen an ask", ask(finding), allow, true, "ask no"],
  ["their deny of a read counts", allow, deny({ ...finding, code: "theirs" }), true, "deny theirs"],
  ["their ask counts", allow, ask({ ...finding, code: "theirs" }), true, "ask theirs"],
] as const)("external policies: %s", async (_name, own, theirs, asked, verdict) => {
  expect(await run(own, () => theirs)).toEqual({ asked, verdict });
});

it("gives a policy its own time", async () => {
  const slow = (): Promise<Verdict> => new Promise((resolve) => setTimeout(() => resolve(deny(finding)), 60));
  expect(await run(allow, slow, { timeoutMs: 500 })).toEqual({ asked: true, verdict: "deny no" });
  // Without it, it failed: an observer, on a read.
  expect(await run(allow, slow)).toEqual({ asked: true, verdict: "allow" });
});

it("asks nobody else when there is no rule of our own", async () => {
  const policies: readonly Policy[] = [{ name: "theirs", kind: "observer", stage: "external", decide: () => allow }];
  const { verdict } = await runPolicies(
    policies,
    inputWith({ access: "read", analysis: { statement: "", effects: [] } }),
    { timeoutMs: 20, signal: new AbortController().signal },
  );
  expect(summary(verdict)).toBe("deny no_policy");
});
