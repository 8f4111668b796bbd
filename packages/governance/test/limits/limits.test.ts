import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Effect } from "#effect";
import {
  aheadRefusal,
  contentDays,
  intentsRefusal,
  longestYes,
  managedBranches,
  managedHooks,
  mayLast,
  modelRefusal,
  remoteRefusal,
  serverRefusal,
  unstagedRefusal,
} from "#limits/laid-down";
import {
  type Limit,
  type Limits,
  limitsAt,
  limitsDigest,
  limitsWhileSent,
  meet,
  permitted,
  switchesLimit,
} from "#limits/limits";
import { limitsVerdict } from "#limits/limits-policy";
import { capabilities } from "#limits/policy-schema";
import { needingTwoPersons, needsSecondPerson, secondPersonVerdict } from "#limits/two-persons";
import type { Policy, PolicyInput } from "#policy";
import { ask, type Verdict } from "#verdict";
import { exec, inside, write } from "../policies/effects.ts";

const hosts = ["a.example:443", "*.b.example:443"];
const limit: fc.Arbitrary<Limit> = fc.oneof(
  fc.record(
    {
      name: fc.constantFrom("a", "b"),
      holder: fc.constantFrom("root" as const, "user" as const),
      file: fc.constantFrom("/etc/a.yaml", "/etc/b.yaml"),
      lines: fc.constant({}),
      capabilities: fc.subarray([...capabilities]),
      protected_branches: fc.subarray(["main", "dev"]),
      models: fc.record(
        {
          allow: fc.subarray(["a/*", "*/m"]),
          deny: fc.subarray(["b/m"]),
          base_urls: fc.subarray(["https://a.example"]),
        },
        { requiredKeys: [] },
      ),
      network: fc.record(
        { allow: fc.subarray(hosts), deny: fc.subarray(hosts), ask: fc.constant(false as const) },
        { requiredKeys: [] },
      ),
      mcp: fc.record(
        {
          allow: fc.subarray([{ command: ["s"] }, { url: "https://a.example" }]),
          deny: fc.subarray([{ command: ["s"] }]),
        },
        { requiredKeys: [] },
      ),
      hooks: fc.record({ only: fc.boolean(), commands: fc.constant([]) }),
      answers: fc.record(
        {
          unattended_yes: fc.constant(false as const),
          longest: fc.constantFrom("once", "turn", "session", "workspace"),
          remote: fc.boolean(),
          two_persons: fc.subarray(["rules/managed/*", "rules/a"]),
        },
        { requiredKeys: [] },
      ),
      retention: fc.record({ content_days_most: fc.integer({ min: 1, max: 9 }) }, { requiredKeys: [] }),
      require: fc.record(
        {
          sandbox: fc.constant(true as const),
          stages: fc.constant(true as const),
          intents: fc.constant("required" as const),
        },
        { requiredKeys: [] },
      ),
      emergency: fc.record(
        { read_only: fc.boolean(), disable_high_impact: fc.boolean(), block: fc.subarray(["deploy", "Bash", "npm"]) },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ["name", "holder", "file", "lines"] },
  ),
  fc
    .record({ readOnly: fc.boolean(), stopAll: fc.boolean(), blockedTools: fc.subarray(["write", "deploy"]) })
    .map((state) => switchesLimit({ ...noEmergency, ...state })),
);
const limits: fc.Arbitrary<Limits> = fc.array(limit, { maxLength: 3 });
const effect: fc.Arbitrary<Effect> = fc.constantFrom<Effect>(
  { type: "read", path: inside("a") },
  { type: "propose", path: inside("a"), operation: "update" },
  { type: "net", url: "https://a.example" },
  { type: "net", url: "https://x.b.example", listed: true },
  { ...exec("npm test"), staged: true } as Effect,
  write(inside("a")),
  ...["ls", "npm test", "npm publish", "sudo ls", "$X", "gennai emergency read-only off"].map(exec),
);
/** What settings, options, variables, files and requests can ask for: each is refused if either refuses it. */
const refusals: readonly ((limits: Limits) => string | undefined)[] = [
  ...["a/m", "b/m", "c/x"].flatMap((name) =>
    ["https://a.example", undefined].map((origin) => (limits: Limits) => {
      const [backend = "", model = ""] = name.split("/");
      return modelRefusal(limits, { backend, model, origin });
    }),
  ),
  (limits) => serverRefusal(limits, { command: ["s"], environment: {} }),
  (limits) => serverRefusal(limits, { url: "https://a.example" }),
  unstagedRefusal,
  intentsRefusal,
  aheadRefusal,
  remoteRefusal,
  (limits) => managedHooks(limits).only,
];
const asked = (rule: string, alongside: readonly string[] = []) =>
  ask({ code: "rule_asks", rule, reason: "", alongside });
const mayLastAll = (limits: Limits) =>
  (["once", "turn", "session", "workspace"] as const).map((scope) => mayLast(scope, longestYes(limits)));
const strictness = { allow: 0, ask: 1, deny: 2 } as const;

describe("meet", () => {
  it("is commutative, associative and idempotent", () => {
    fc.assert(
      fc.property(limits, limits, limits, (a, b, c) => {
        expect(meet(a, b)).toEqual(meet(b, a));
        expect(meet(meet(a, b), c)).toEqual(meet(a, meet(b, c)));
        expect(meet(meet(a, b), b)).toEqual(meet(a, b));
      }),
    );
  });

  it("is never looser than either: a verdict is at least as strict", () => {
    fc.assert(
      fc.property(limits, limits, effect, fc.constantFrom("Bash", "Write"), (a, b, one, toolName) => {
        const of = (each: Limits): Verdict =>
          limitsVerdict(each, { toolName, analysis: { statement: "", effects: [one] } });
        const strictest = Math.max(strictness[of(a).type], strictness[of(b).type]);
        expect(strictness[of(meet(a, b)).type]).toBe(strictest);
        for (const rule of ["rules/managed/prod", "rules/a", "rules/b"]) {
          const two = (each: Limits) => secondPersonVerdict(each, asked(rule), "unavailable").type;
          expect(two(meet(a, b))).toBe(two(a) === "deny" ? "deny" : two(b));
        }
        for (const refusal of refusals) {
          expect(refusal(meet(a, b)) === undefined).toBe(refusal(a) === undefined && refusal(b) === undefined);
        }
        const days = (each: Limits) => contentDays(each)?.days ?? Number.POSITIVE_INFINITY;
        expect(days(meet(a, b))).toBe(Math.min(days(a), days(b)));
        expect(mayLastAll(meet(a, b))).toEqual(mayLastAll(a).map((may, at) => may && mayLastAll(b)[at] === true));
        expect(new Set(managedBranches(meet(a, b)))).toEqual(new Set([...managedBranches(a), ...managedBranches(b)]));
        expect(permitted(meet(a, b))).toEqual(permitted(a).filter((each) => permitted(b).includes(each)));
      }),
    );
  });
});

test("the digest is of what limits say, not of where they lie", () => {
  const one: Limit = { name: "a", holder: "root", file: "/a", lines: { capabilities: 3 }, capabilities: ["read"] };
  expect(limitsDigest([{ ...one, file: "/b", lines: {} }])).toBe(limitsDigest([one]));
  expect(limitsDigest([{ ...one, capabilities: ["read", "write"] }])).not.toBe(limitsDigest([one]));
});

describe("a limit in time", () => {
  const day = 86_400_000;
  const one: Limit = {
    name: "team",
    holder: "user",
    file: "",
    lines: {},
    capabilities: ["write"],
    issued: 10 * day,
    expires: 20 * day,
  };
  it.each([
    ["before its issue", 9 * day, "clock"],
    ["a little before: clocks differ", 10 * day - 60_000, undefined],
    ["in its time", 15 * day, undefined],
    ["at its end", 20 * day, "expired"],
    ["after", 21 * day, "expired"],
  ])("%s", (_name, now, problem) => {
    const [at] = limitsAt([one], now);
    if (problem === undefined) expect(at).toEqual(one);
    else expect(at).toMatchObject({ capabilities: ["read"], problem: expect.stringContaining(problem) });
  });
});

test.each<[string, readonly string[], "ask" | "deny"]>([
  ["rules/user/x", [], "ask"],
  ["rules/managed/prod", [], "deny"],
  // A rule of the user's own that asks first does not hide the other.
  ["rules/user/x", ["rules/managed/prod"], "deny"],
])("two persons: %s beside %j", async (rule, alongside, wanted) => {
  const limits: Limits = [
    {
      name: "acme",
      holder: "root",
      file: "/p.yaml",
      lines: { "answers.two_persons": 7 },
      answers: { two_persons: ["rules/managed/*"] },
    },
  ];
  const policy: Policy = { name: "rules", kind: "guard", decide: async () => asked(rule, alongside) };
  const input = { toolName: "Bash", analysis: { statement: "", effects: [] } } as unknown as PolicyInput;
  const verdictWhere = async (second: "reachable" | "unavailable"): Promise<Verdict | undefined> => {
    const [judged] = needingTwoPersons([policy], { current: () => limits, second });
    return judged?.decide(input, { signal: new AbortController().signal });
  };
  const verdict = await verdictWhere("unavailable");
  expect(verdict?.type).toBe(wanted);
  const reachable = await verdictWhere("reachable");
  expect(reachable).toMatchObject({ type: "ask" });
  expect(reachable && needsSecondPerson([{ verdict: reachable }])).toBe(wanted === "deny");
  if (wanted === "deny")
    expect(verdict).toMatchObject({ finding: { code: "second_person_unavailable", place: "/p.yaml:7" } });
});

test.each<[string, { readonly required?: boolean; readonly most_behind_hours?: number }, number | undefined, boolean]>([
  ["nothing is required", {}, 1_000, false],
  ["all has arrived", { required: true }, undefined, false],
  ["little lacks", { required: true }, 24, false],
  ["too much lacks", { required: true }, 25, true],
  ["its own hours", { required: true, most_behind_hours: 2 }, 3, true],
])("an export behind: %s", (_what, wants, hours, only) => {
  const now = Date.parse("2026-11-30T00:00:00Z");
  const siem = { name: "siem", to: "otlp", endpoint: "https://x.example", ...wants } as const;
  const root: Limit = { name: "acme", holder: "root", file: "/p.yaml", lines: { export: 3 }, export: [siem] };
  const limits = limitsWhileSent([root], () => (hours === undefined ? undefined : now - hours * 3_600_000), now);
  const call = { toolName: "Write", analysis: { statement: "", effects: [write(inside("a"))] } };
  const verdict = limitsVerdict(limits, call);
  if (!only) expect(verdict.type).toBe("allow");
  else expect(verdict).toMatchObject({ type: "deny", finding: { code: "export_behind", rule: "limits/export" } });
});

test("an export whose backlog cannot be read lets only reading through, and says why", () => {
  const siem = { name: "siem", to: "otlp", endpoint: "https://x.example", required: true } as const;
  const root: Limit = { name: "acme", holder: "root", file: "/p.yaml", lines: {}, export: [siem] };
  const broken = (): never => {
    throw new Error("the database is damaged");
  };
  expect(limitsWhileSent([root], broken, 0)).toMatchObject([
    {
      capabilities: ["read"],
      problemCode: "export_behind",
      problem: expect.stringContaining("the database is damaged"),
    },
  ]);
});

test("a refusal of a file of root names the file, its line and whom to ask", () => {
  const root: Limit = {
    name: "acme",
    contact: "sec@acme.example",
    holder: "root",
    file: "/etc/gennai/policy.yaml",
    lines: { emergency: 7 },
    emergency: { block: ["Deploy"] },
  };
  const call = { toolName: "Bash", analysis: { statement: "", effects: [exec("npm publish")] } };
  expect(limitsVerdict([root], call)).toMatchObject({
    type: "deny",
    finding: {
      code: "tool_blocked",
      place: "/etc/gennai/policy.yaml:7",
      reason: expect.stringMatching(/\. Policy: acme\. Questions: sec@acme\.example\.$/),
      hint: expect.stringContaining("Nobody here can lift this"),
    },
  });
});
