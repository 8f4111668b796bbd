import type { OpenCall } from "@gennai/agent/conversation/conversation";
import { redactionMarker } from "@gennai/governance/redaction";
import { expect, test } from "vitest";
import { callsToRun } from "#turn/prepare-turn";

const call = (id: string, name: string, { begun = false, args = "{}" } = {}): OpenCall => ({
  id,
  name,
  argumentsJson: args,
  begun,
});
const secret = { args: JSON.stringify({ command: `login ${redactionMarker}` }) };

test.each<readonly [string, readonly OpenCall[], readonly string[]]>([
  ["nothing is open", [], []],
  ["none had begun", [call("build", "Bash"), call("publish", "Bash")], ["build", "publish"]],
  ["the first was cut off", [call("build", "Bash", { begun: true }), call("publish", "Bash")], []],
  ["one in the middle was cut off", [call("a", "Write"), call("b", "Bash", { begun: true }), call("c", "Read")], ["a"]],
  ["a read was cut off", [call("a", "Read", { begun: true }), call("b", "Bash")], ["a", "b"]],
  ["a read was cut off, and a write", [call("a", "Read", { begun: true }), call("b", "Bash", { begun: true })], ["a"]],
  ["the first has a secret", [call("login", "Bash", secret), call("publish", "Bash")], []],
  ["the last has a secret", [call("build", "Bash"), call("login", "Bash", secret)], ["build"]],
])("calls run up to the first that may not: %s", (_case, open, wanted) => {
  const calls = callsToRun(open, ({ name }) => name === "Read");
  expect(calls.map(({ id }) => id)).toEqual(wanted);
  for (const each of calls) expect(each).not.toHaveProperty("begun");
});
