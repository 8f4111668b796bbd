import { call } from "@gennai/testkit/scripted-steps";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import { writePlan } from "./write-plan.ts";

const todos = [
  { content: "Read the sum", status: "completed" },
  { content: "Tidy it up", status: "in_progress", priority: "high" },
  { content: "Try it", status: "pending" },
];
const questions = [
  {
    header: "Store",
    question: "Where shall the notes be kept?",
    options: [
      { label: "SQLite", description: "One file beside the program" },
      { label: "Postgres", description: "A server that others can reach" },
    ],
  },
  { question: "Which parts need it?", multiple: true, options: [{ label: "api" }, { label: "web" }] },
];
const edited = { file_path: "src/add.ts", old_string: "return a + b;", new_string: "return b + a;" };

/** What the model says so that each sight can be seen. */
export const sightScript: readonly ScriptedTurn[] = [
  {
    match: "^explain",
    steps: [
      { thinking: ["The user wants to know ", "what this is."] },
      { text: ["I look at the files first."] },
      call("LS", {}),
      {
        text: [
          "## What I found\n\nA **small** project, see [the docs](https://example.com/docs) or [the sum](src/add.ts):\n\n",
          "- `README.md` has a title\n- `src/add.ts` adds\n\n#### In short\n\n> It adds.\n\n# The code\n\n",
          "```ts\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n```\n\n",
          "| file | lines |\n|---|---|\n| README.md | 1 |\n| src/add.ts | 3 |\n",
        ],
      },
      { usage: { input_tokens: 1200, output_tokens: 340 } },
    ],
  },
  {
    match: "^use every tool",
    steps: [
      call("TodoWrite", { todos }),
      call("Read", { file_path: "src/add.ts" }),
      call("Read", { file_path: "missing.ts" }),
      call("Grep", { pattern: "return" }),
      call("Edit", edited),
      call("Write", { file_path: "src/new.ts", content: "export const two = 2;\n" }),
      call("Bash", { command: "rm -rf /", description: "Clean up" }),
      call("Bash", { command: "cat README.md", description: "Look" }),
      call("NoSuchTool", {}),
      { text: ["Used them."] },
    ],
  },
  {
    match: "^run",
    steps: [
      { text: ["I run the formatter."] },
      call("Bash", { command: "touch formatted.txt && echo formatted", description: "Format" }),
      { text: ["The formatter has been dealt with."] },
    ],
  },
  { match: "^which", steps: [call("AskUser", { questions }), { text: ["Thank you."] }] },
  {
    match: "^propose",
    steps: [
      call("Read", { file_path: "src/add.ts" }),
      call("ProposeChanges", {
        changes: [
          { path: "src/add.ts", operation: "update", new_content: "export const add = (a: number) => a;\n" },
          { path: "src/subtract.ts", operation: "create", new_content: "export const subtract = -1;\n" },
        ],
      }),
      { text: ["Proposed."] },
    ],
  },
  { match: "create one", steps: [{ text: [writePlan("one.txt", "x\n", "x")] }] },
  {
    match: "^take the sum",
    steps: [
      { text: ["I turn it round."] },
      call("Write", { file_path: "src/turned.ts", content: "export const turned = true;\n" }),
      { usage: { input_tokens: 1200, output_tokens: 90 } },
      { text: ["It is turned round."] },
    ],
  },
  { match: "^think long", steps: [{ text: ["I begin."] }, { delay_ms: 600_000 }, { text: ["I never get here."] }] },
  {
    match: "^break",
    steps: [{ error: { code: "rate_limited", message: "Too many requests.", hint: "Wait a minute." } }],
  },
];

/** Attempts are made on copies, which needs the sandbox. */
export const sightArgs = ["--commands", "staged"];

export const sightFiles = {
  // What runs staged asks nobody without it.
  ".gennai/rules.yaml": "bashToolPatterns: [{pattern: touch, reason: look twice, ask: true}]\n",
  "README.md": "# Adding\n",
  // Nobody accepted it: it waits in Governance.
  ".mcp.json": JSON.stringify({ mcpServers: { units: { command: "node", args: ["src/units-of-measurement.mjs"] } } }),
  "src/add.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
};
