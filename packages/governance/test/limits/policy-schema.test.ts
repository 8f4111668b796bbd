import { expect, test } from "vitest";
import { parsePolicy } from "#limits/policy-schema";

const lines: Readonly<Record<string, number>> = { gennai_policy: 1, name: 2, emergency: 3, "emergency.block": 4, x: 9 };
const parse = (data: unknown) =>
  parsePolicy(data, { holder: "root", file: "p.yaml", lineOf: (path) => lines[path.join(".")] });
const least = { gennai_policy: 1, name: "acme" };

test("a policy keeps what it says, and where", () => {
  expect(parse({ ...least, expires: "2027-01-01T00:00:00Z", emergency: { block: ["deploy"] } })).toEqual({
    name: "acme",
    holder: "root",
    file: "p.yaml",
    issued: undefined,
    expires: Date.parse("2027-01-01T00:00:00Z"),
    emergency: { block: ["deploy"] },
    lines: { name: 2, emergency: 3, "emergency.block": 4 },
  });
});

test.each<[string, unknown, RegExp]>([
  ["another version", { ...least, gennai_policy: 2 }, /^p\.yaml:1: gennai_policy is not valid/],
  ["no version", { name: "acme" }, /^p\.yaml:1: gennai_policy is not valid/],
  ["no name", { gennai_policy: 1 }, /name is not valid/],
  ["a misspelt key", { ...least, capabilites: [] }, /capabilites is not a known key; did you mean capabilities\?/],
  [
    "a misspelt key inside",
    { ...least, emergency: { readonly: true } },
    /^p\.yaml:3: emergency\.readonly .*read_only\?/,
  ],
  ["an unknown key", { ...least, x: 1 }, /^p\.yaml:9: x is not a known key; known are gennai_policy, name/],
  ["a time of no days", { ...least, retention: { content_days_most: 0 } }, /retention\.content_days_most is not valid/],
  ["a wrong type", { ...least, emergency: { block: "deploy" } }, /^p\.yaml:4: emergency\.block is not valid/],
  ["a capability that is none", { ...least, capabilities: ["root"] }, /capabilities\.0 is not valid/],
  ["nothing", null, /^p\.yaml:1: the file is not valid/],
  ["a list", [], /the file is not valid/],
])("%s is refused", (_what, data, wanted) => {
  expect(() => parse(data)).toThrow(wanted);
});
