import { expect, test } from "vitest";
import * as z from "zod";
import { toolDefinitions } from "../../src/loop/tool-definitions.ts";

const tool = (name: string, more: object = {}) => ({ name, description: name, parameters: z.object({}), ...more });
const later = { onRequest: true as const };

function told(names: readonly string[], wanted: readonly string[]): readonly string[] {
  const all = [
    tool("Read"),
    tool("one", later),
    tool("Edit", { shownTo: /other/ }),
    tool("two", later),
    tool("LoadTools"),
  ];
  const tools = all.filter(({ name }) => names.includes(name));
  return toolDefinitions({ tools }, "model", new Set(wanted)).map(({ name }) => name);
}

test.each([
  ["nothing was asked for", ["Read", "one", "Edit", "two", "LoadTools"], [], ["Read", "LoadTools"]],
  [
    "some were, in the order of the calls and behind the others",
    ["Read", "one", "Edit", "two", "LoadTools"],
    ["two", "gone", "Read", "one"],
    ["Read", "LoadTools", "two", "one"],
  ],
  ["it cannot ask", ["Read", "one", "two"], [], ["Read", "one", "two"]],
])("a model is told of its tools where %s", (_where, names, wanted, expected) => {
  expect(told(names, wanted)).toEqual(expected);
});
