import type { ScriptedTurn } from "@gennai/testkit/test-server";

/** As the agent finds `src/basket.js`. */
export const before = `/** Adds what a basket holds. */
export function total(prices) {
  let sum = 0;
  for (let i = 0; i < prices.length; i++) {
    sum = sum + prices[i];
  }
  return sum;
}

/** True when nothing was put in. */
export function isEmpty(prices) {
  return prices.length === 0;
}

/** What is paid on top. */
export const shipping = 4.9;

/** In the shop's own way. */
export function shown(price) {
  return "EUR " + price;
}
`;

/** With the first of the agent's two changes. */
export const keptInPart = before.replace(
  / {2}let sum[^]*?return sum;/,
  "  return prices.reduce((sum, price) => sum + price, 0);",
);

/** As the agent would have it. */
const after = keptInPart.replace('"EUR " + price', "`EUR ${price.toFixed(2)}`");

/** A small project that journeys and pictures are about. */
export const shop: Readonly<Record<string, string>> = {
  "README.md": "# Shop\n",
  "package.json":
    '{ "name": "shop", "type": "module", "scripts": { "test": "node --test", "check": "node --test" } }\n',
  "src/basket.js": before,
  "src/basket.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./basket.js";

test("a basket is added up", () => assert.equal(total([1, 2, 3]), 6));
`,
  ".env": "PAYMENT_KEY=live-1\n",
};

const read = { tool: { name: "Read", args: { file_path: "src/basket.js" } } };
const proposed = [{ path: "src/basket.js", operation: "update", new_content: after }];
const plan = {
  kind: "plan",
  payload: {
    id: "plan-1",
    title: "Write down what changed",
    summary: "Adds CHANGES.md with a line about the basket.",
    risks: [{ level: "low", text: "A file of this name would be written over." }],
    steps: [
      {
        id: "s1",
        title: "Write CHANGES.md",
        intent: "You asked to write down what changed.",
        description: "Write CHANGES.md",
        tool: "Write",
        risk_level: "medium",
        requires_confirmation: true,
        actions: [{ type: "file_write", path: "CHANGES.md", content: "The total is one line.\n" }],
        verification_plan: [{ type: "command", command: "grep -nF -e total CHANGES.md" }],
      },
    ],
  },
};

/** What the model does in it. */
export const shopScript: readonly ScriptedTurn[] = [
  {
    match: "^tidy",
    steps: [
      { thinking: ["The basket adds by hand; reduce says the same in one line."] },
      read,
      { tool: { name: "Write", args: { file_path: "src/basket.js", content: after } } },
      { tool: { name: "Bash", args: { command: "git push --force origin main", description: "Publish it" } } },
      { text: ["The total is one line now, and prices have two digits. I run the tests."] },
      { tool: { name: "RunInTerminal", args: { command: "npm test" } } },
      { text: ["All tests pass. Publishing by force was **refused**: do that yourself, if you want it."] },
    ],
  },
  {
    match: "^test it again",
    steps: [{ tool: { name: "Bash", args: { command: "npm run check" } } }, { text: ["They pass again."] }],
  },
  {
    match: "^propose",
    steps: [read, { tool: { name: "ProposeChanges", args: { changes: proposed } } }, { text: ["Proposed."] }],
  },
  { match: "write down what changed", steps: [{ text: [`\`\`\`json\n${JSON.stringify(plan)}\n\`\`\`\n`] }] },
];
