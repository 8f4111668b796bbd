import { expect, test } from "vitest";
import { listedRules } from "#rules/listed-rules";
import { parseRules } from "#rules/parse-rules";
import { ruleActivity } from "#rules/rule-activity";

const record = (seconds: number, turn: string, ...calls: readonly object[]) =>
  JSON.stringify({ timestamp: new Date(seconds * 1000).toISOString(), metadata: { turn_id: turn, calls } });

test("each call counts once, by its last record, and lines that are none count nothing", () => {
  const { rules, calls } = ruleActivity([
    record(1, "t", { call_id: "1", rule: "a", verdict: "ask" }),
    record(2, "t", { call_id: "1", rule: "a", verdict: "ask" }),
    record(3, "t", { call_id: "2", rule: "a", verdict: "deny" }),
    // The same id in another turn is another call.
    record(4, "u", { call_id: "2", rule: "b", verdict: "deny" }),
    record(5, "u", { call_id: "3", rule: "", verdict: "allow" }),
    "{",
    "null",
    '{"metadata":{"calls":[null, 3, {"rule":{}}]}}',
  ]);
  expect([...rules]).toEqual([
    ["a", { refused: 1, allowed: 1, last: 3000 }],
    ["b", { refused: 1, allowed: 0, last: 4000 }],
  ]);
  expect(calls).toBe(5);
});

test("rules of the code that spoke stand behind those of files, and a floor's rule has no place to open", () => {
  const yaml = { bashToolPatterns: [{ pattern: "deploy", reason: "no", ask: true }], readOnlyPaths: ["*.lock"] };
  const file = (layer: "floor" | "project") => parseRules(yaml, { layer, file: "rules.yaml", lineOf: () => 7 }).rules;
  const spoke = ruleActivity([record(9, "t", { call_id: "1", rule: "branch/protected", verdict: "deny" })]);
  const { rules } = listedRules([file("floor"), file("project")], spoke);
  expect(rules.map(({ kind, verdict, place }) => [kind, verdict, place])).toEqual([
    ["command", "ask", ""],
    ["readOnly", "deny", ""],
    ["command", "ask", "rules.yaml:7"],
    ["readOnly", "deny", "rules.yaml:7"],
    ["code", undefined, ""],
  ]);
  expect(rules.at(-1)).toMatchObject({ name: "branch/protected", activity: { refused: 1, last: 9000 } });
});
