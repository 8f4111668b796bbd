import { expect, test } from "vitest";
import { answeredAhead } from "#client/allowed-ahead";

const allow = [
  { host: "registry.example", port: 443 },
  { host: "127.0.0.1", port: 5432 },
];
const connection = { rule: "network/connection", risk: "medium" } as const;
const yes = { answer: "yes", scope: "once" };

test.each([
  ["what was named", connection, "registry.example:443", yes],
  ["all that was named, the machine's own by any name", connection, "registry.example:443, localhost:5432", yes],
  ["one more", connection, "registry.example:443, evil.example:443", undefined],
  ["another port", connection, "registry.example:8443", undefined],
  ["a name that leads inside", connection, "registry.example:443 at 10.0.0.7", undefined],
  ["high risk", { ...connection, risk: "high" }, "registry.example:443", undefined],
  ["another rule", { ...connection, rule: "house/no-network" }, "registry.example:443", undefined],
  ["nothing", connection, "", undefined],
  ["no words", connection, 7, undefined],
] as const)("%s", (_name, computed, reaches, wanted) => {
  const question = {
    computed: { ...computed, paths: [], reason: "", policySha256: "" },
    actionJson: JSON.stringify({ operands: { reaches } }),
  };
  expect(answeredAhead(question, allow)).toEqual(wanted);
  expect(answeredAhead(question, [])).toBeUndefined();
});
