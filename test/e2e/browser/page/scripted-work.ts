import { call } from "@gennai/testkit/scripted-steps";
import type { ScriptedTurn } from "@gennai/testkit/test-server";

/** What the model says in the tests of the REPL: a turn for each thing that a user can meet there. */
export const scriptedWork: readonly ScriptedTurn[] = [
  {
    match: "^explain",
    steps: [
      { thinking: ["The user wants to know ", "what this is."] },
      { text: ["I look at the files first."] },
      call("LS", {}),
      call("Read", { file_path: "README.md" }),
      {
        text: [
          "## What I found\n\nA **small** project:\n\n- `README.md` has a title\n- `src/add.ts` adds\n\n",
          "```ts\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n```\n\n",
          "| file | lines |\n|---|---|\n| README.md | 1 |\n| src/add.ts | 3 |\n\nSee [the docs](https://example.com/docs).\n",
        ],
      },
      { usage: { input_tokens: 1200, output_tokens: 340 } },
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
  {
    match: "^destroy",
    steps: [call("Bash", { command: "rm -rf /", description: "Clean up" }), { text: ["That was refused."] }],
  },
  {
    match: "^change",
    steps: [
      call("Read", { file_path: "src/add.ts" }),
      call("Edit", { file_path: "src/add.ts", old_string: "return a + b;", new_string: "return a + b + 0;" }),
      { text: ["Changed as you asked."] },
    ],
  },
  {
    match: "^ask",
    steps: [
      call("RunInTerminal", { command: "touch formatted.txt", description: "Format" }),
      { text: ["You were asked."] },
    ],
  },
  {
    match: "^propose",
    steps: [
      call("Read", { file_path: "src/add.ts" }),
      call("ProposeChanges", {
        changes: [
          {
            path: "src/add.ts",
            operation: "update",
            new_content: "export const add = (a: number, b: number) => a + b;\n",
          },
          {
            path: "src/subtract.ts",
            operation: "create",
            new_content: "export const subtract = (a: number, b: number) => a - b;\n",
          },
        ],
      }),
      { text: ["Proposed."] },
    ],
  },
  { match: "^/nothing", steps: [{ text: ["Said."] }] },
  { match: "^look", steps: [call("Read", { file_path: "src/add.ts" }), { text: ["Looked."] }] },
  { match: "^think long", steps: [{ text: ["I begin."] }, { delay_ms: 60_000 }, { text: ["I never get here."] }] },
  {
    match: "^read again",
    steps: [1, 2, 3, 4].flatMap((time) => [
      // Never the same: a model that goes round in circles is stopped.
      ...Array.from({ length: 100 }, (_, index) =>
        call("Read", { file_path: "long.txt", offset: time * 100 + index, limit: 1 }),
      ),
      { text: [`Read it a hundred times, ${time} of 4.`] },
    ]),
  },
];

export const scriptedFiles = {
  "README.md": "# Adding\n",
  "long.txt": Array.from({ length: 500 }, (_, index) => `line ${index + 1}\n`).join(""),
  "src/add.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
};

/** A server whose model says that. */
export const scripted = { script: scriptedWork, files: scriptedFiles } as const;
