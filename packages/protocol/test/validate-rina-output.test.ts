import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "#canonical-json";
import { extractFirstJsonObject, validateRinaOutput } from "#validate-rina-output";

const seed =
  '{"id":"p1","title":"T","summary":"S","risks":[],"steps":[{"id":"s1","title":"st","intent":"i","actions":[{"type":"command","command":"npm test"}],"verify":[]}]}';
const envelope = `{"kind":"plan","payload":${seed}}`;
const contractStep = {
  id: "s1",
  actions: [{ type: "command", command: "npm test" }],
  risk_level: "medium",
  requires_confirmation: true,
  verification_plan: [{ type: "command", command: "npm test" }],
  tool: "Bash",
  description: "Runs the tests",
};

function digestOf(text: string): string {
  const output = validateRinaOutput(text);
  return output.kind === "plan" ? output.plan.digest : JSON.stringify(output.issues);
}

/** Paths and levels of the issues; empty for a plan. */
function issuesOf(text: string, strict = false): readonly string[] {
  return validateRinaOutput(text, { strict }).issues.map(({ level, path }) => `${level} ${path}`);
}

function contractPlan(change: Readonly<Record<string, unknown>>): string {
  const step = Object.fromEntries(
    Object.entries({ ...contractStep, ...change }).filter(([, value]) => value !== undefined),
  );
  return JSON.stringify({ id: "p", title: "t", summary: "s", steps: [step] });
}

describe("extractFirstJsonObject", () => {
  test.each([
    ["prose before and after", 'Use {this}: {"a":1} and {"b":2}', '{"a":1}'],
    ["braces in strings", '{"a":"}{\\"}","b":"{"}', '{"a":"}{\\"}","b":"{"}'],
    ["a code fence", '```json\n{"a":{"b":1}}\n```', '{"a":{"b":1}}'],
    ["an object that is cut off, then a whole one", '{"a": {"b":1}', '{"b":1}'],
    ["no object", "nothing } here {", undefined],
    ["an object that is none", '{"a":1,}', '{"a":1,}'],
  ])("%s", (_name, text, wanted) => {
    expect(extractFirstJsonObject(text)).toBe(wanted);
  });

  test("finds the object in any prose without braces and quotes", () => {
    const prose = fc.string().map((text) => text.replaceAll(/[{}"]/g, ""));
    fc.assert(
      fc.property(prose, fc.dictionary(fc.string(), fc.string()), prose, (before, value, after) => {
        expect(extractFirstJsonObject(before + JSON.stringify(value) + after)).toBe(JSON.stringify(value));
      }),
    );
  });

  test("many braces do not make it slow", () => {
    const begin = process.cpuUsage();
    expect(extractFirstJsonObject("{".repeat(500_000))).toBe(undefined);
    expect(process.cpuUsage(begin).user / 1000).toBeLessThan(5_000);
  });
});

describe("validateRinaOutput", () => {
  test("seed 000 canonical: plan hashing is SHA-256 over canonical JSON", () => {
    expect(digestOf(seed)).toBe("558072518d251229f10b8da8ab03c34fde9b45a2d417e16bb40bcef3b6b9f58b");
    expect(digestOf(`Here it is:\n${envelope}\nDone.`)).toBe(digestOf(seed));
  });

  test("seed 000 canonical: any change of a plan changes its hash; key order and white space do not", () => {
    const swapped = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(seed)).reverse()), null, 2);
    expect(digestOf(swapped)).toBe(digestOf(seed));
    fc.assert(
      fc.property(fc.nat(seed.length - 1), fc.constantFrom("x", "0", " ", "{", '"'), (at, letter) => {
        const changed = seed.slice(0, at) + letter + seed.slice(at + 1);
        let same = false;
        try {
          same = canonicalJson(JSON.parse(changed)) === canonicalJson(JSON.parse(seed));
        } catch {
          same = false;
        }
        if (!same) expect(digestOf(changed)).not.toBe(digestOf(seed));
      }),
      { numRuns: 300 },
    );
  });

  test("forms of Unicode are different plans", () => {
    expect(digestOf(seed.replace("npm test", "cat é"))).not.toBe(digestOf(seed.replace("npm test", "cat e\u0301")));
  });

  test("seed 000 envelope: chat and error envelopes are no plans", () => {
    expect(validateRinaOutput('{"kind":"chat","payload":{"text":"hi"}}')).toMatchObject({ kind: "chat", issues: [] });
    expect(validateRinaOutput('{"kind":"error","payload":"no"}')).toMatchObject({ kind: "error", issues: [] });
  });

  test.each<[string, string, readonly string[]]>([
    ["no JSON", "I approve of this plan.", ["json "]],
    ["a duplicate key", seed.replace('"title":"T"', '"title":"T","title":"U"'), ["json title"]],
    ["an unknown key of a step", seed.replace('"intent"', '"extra":1,"intent"'), ["schema steps[0]"]],
    [
      "an unknown key of an action",
      envelope.replace('"npm test"', '"npm test","run":true'),
      ["schema payload.steps[0].actions[0]"],
    ],
    [
      "an action without its command",
      seed.replace(',"command":"npm test"', ""),
      ["schema steps[0].actions[0].command"],
    ],
    ["an unknown kind of envelope", envelope.replace('"plan"', '"approved"'), ["schema kind"]],
    ["an unknown key of the envelope", envelope.replace('"kind"', '"approved":true,"kind"'), ["schema "]],
    ["no steps", seed.replace(/"steps":.*$/, '"steps":[]}'), ["schema steps"]],
    ["a step without actions", seed.replace(/"actions":\[[^\]]*\]/, '"actions":[]'), ["schema steps[0].actions"]],
    ["a NUL in a command", seed.replace("npm test", "a\\u0000b"), ["schema steps[0].actions[0].command"]],
    [
      "a step that depends on none",
      seed.replace('"verify"', '"depends_on":["s2"],"verify"'),
      ["schema steps[0].depends_on[0]"],
    ],
    [
      "two steps of one id",
      seed.replace('"steps":[', `"steps":[${JSON.stringify(JSON.parse(seed).steps[0])},`),
      ["schema steps[1].id"],
    ],
  ])("refuses %s, by path", (_name, text, wanted) => {
    expect(issuesOf(text)).toEqual(wanted);
  });

  test("strict: the text is the JSON and nothing else", () => {
    expect(issuesOf(` ${envelope}\n`, true)).toEqual([]);
    expect(issuesOf(`Here: ${envelope}`, true)).toEqual(["json "]);
    expect(issuesOf("", true)).toEqual(["json "]);
  });

  test.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
    ["a whole contract", {}, []],
    ["reject missing risk_level", { risk_level: undefined }, ["contract steps[0].risk_level"]],
    ["reject a risk_level that is none", { risk_level: "LOW " }, ["contract steps[0].risk_level"]],
    ["reject missing verification_plan", { verification_plan: undefined }, ["contract steps[0].verification_plan"]],
    ["reject an empty verification_plan", { verification_plan: [] }, ["contract steps[0].verification_plan"]],
    [
      "reject missing requires_confirmation",
      { requires_confirmation: undefined },
      ["contract steps[0].requires_confirmation"],
    ],
    ["reject missing tool", { tool: undefined }, ["contract steps[0].tool"]],
    ["reject missing description", { description: undefined }, ["contract steps[0].description"]],
  ])("seed 003, contract tests: %s", (_name, change, wanted) => {
    expect(issuesOf(contractPlan(change))).toEqual(wanted);
    for (const { message } of validateRinaOutput(contractPlan(change)).issues)
      expect(message).toMatch(/^Step "s1", [a-z_]+: /);
  });

  test("seed 003 §6: where the contract is wanted, a plan of seed 000 is none, and every missing field is named", () => {
    const fields = ["risk_level", "requires_confirmation", "verification_plan", "tool", "description"];
    for (const text of [seed, envelope]) {
      const output = validateRinaOutput(text, { contract: true });
      const named = fields.map((field) =>
        output.issues.some(
          ({ path, message, level }) =>
            path.endsWith(`steps[0].${field}`) && message.startsWith('Step "s1", ') && level === "contract",
        ),
      );
      expect([output.kind, ...named]).toEqual(["invalid", true, true, true, true, true]);
    }
    expect(validateRinaOutput(contractPlan({}), { contract: true }).kind).toBe("plan");
  });

  test("limits come before hashing", () => {
    const [start = "", step = ""] = seed.split(/"steps":\[|\]\}$/);
    const steps = Array.from({ length: 201 }, (_, index) => step.replace("s1", `s${index}`)).join(",");
    expect(issuesOf(`${start}"steps":[${steps}]}`)).toEqual(["schema steps"]);
    expect(issuesOf(seed.replace('"S"', `"${"s".repeat(2_000_000)}"`))).toEqual(["json "]);
  });
});
