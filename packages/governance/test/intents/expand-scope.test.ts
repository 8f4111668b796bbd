import { expect, it } from "vitest";
import { expandedScope } from "#intents/expand-scope";

const intent = {
  id: "INT-1",
  name: "n",
  status: "active",
  selectable: true,
  ownedScope: ["src/**", "!src/secret/**"],
  constraints: [],
  acceptanceCriteria: [],
};

it.each<[readonly string[], readonly string[] | RegExp]>([
  [
    ["docs/**", "./lib/a.ts", "docs/**"],
    ["docs/**", "lib/a.ts"],
  ],
  [["src/a.ts", "docs/x"], ["docs/x"]],
  [["src/a.ts"], /owns all of this already/],
  [["../x"], /never leaves the workspace/],
  [["!src/a.ts"], /begins with !/],
  [["src/secret/key"], /is excluded from INT-1/],
  [["+(a|aa)+(a|aa)"], /extended glob/],
  [[], /already/],
])("seed 001 expansion: agent may request scope expansion via a controlled tool call: %j -> %s", (paths, wanted) => {
  const result = expandedScope(intent, paths);
  if (wanted instanceof RegExp) expect(result).toEqual({ type: "refused", why: expect.stringMatching(wanted) });
  else expect(result).toEqual({ type: "expanded", added: wanted, ownedScope: [...intent.ownedScope, ...wanted] });
});
