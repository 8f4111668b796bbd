import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { usualLedgerPath } from "@gennai/store/ledger/file/ledger-file-name";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

interface Call {
  readonly call_id: string;
  readonly [name: string]: unknown;
}

function record(seq: number, kind: string, calls: readonly Call[], more: Record<string, unknown> = {}) {
  return {
    id: `0000000${seq}-aaaa`,
    timestamp: `2026-11-22T10:00:0${seq}.000Z`,
    metadata: { seq, kind, session_id: "s", turn_id: "t", calls, changes: [], details: {}, ...more },
  };
}

const bash = (call_id: string, more: Record<string, unknown>): Call => ({
  call_id,
  tool: "Bash",
  input: '{"command":"rm a.txt"}',
  risk: "medium",
  verdict: "ask",
  rule: "commands/not-proven-to-read",
  ...more,
});
const yes = { confirmation: { answer: "yes", by: "ann", scope: "once" } };
const records = [
  record(1, "intent", [bash("c1", yes)], { details: { intent: "INT-001", isolation: "sandboxed" } }),
  record(2, "outcome", [bash("c1", { ...yes, exit_code: 0, verification: "unverified" })]),
  record(3, "refusal", [bash("c2", { verdict: "deny", rule: "rules/project/no-prod" })]),
  record(4, "refusal", [bash("c3", { verdict: "deny", confirmation: { answer: "no", by: "ben" } })]),
  record(5, "refusal", [
    bash("c4", { verdict: "deny", rule: "rules/managed/no-x", confirmation: { answer: "timeout", by: "" } }),
  ]),
  record(6, "intent", [bash("c5", { verdict: "allow", rule: "", input: '{"command":"a\\u001b[2J\\nb"}' })]),
  record(7, "review", [], { details: { review: { hunks: [{ decision: "keep" }], note: "fine" }, proposalId: "p" } }),
  record(8, "session", [], { details: { plan: { id: "p1", approved_by: "ann", channel: "authenticated" } } }),
  record(
    9,
    "outcome",
    [
      bash("c6", {
        verdict: "ask",
        confirmation: { answer: "yes", by: "remembered", remembered_from: "c1", pattern: "rm *.txt" },
        failure_class: "timeout",
      }),
    ],
    { changes: [{ path: "b.txt", operation: "delete" }] },
  ),
  record(10, "intent", [], { turn_id: "run", details: { plan: { id: "p1", approved_by: "ann" } } }),
  record(11, "outcome", [bash("c7", { verdict: "allow", rule: "", plan_step: "s1" })], { turn_id: "run" }),
  record(12, "outcome", [
    bash("c8", {
      verdict: "allow",
      rule: "",
      exit_code: 0,
      also_asked: [
        {
          verdict: "ask",
          rule: "rules/managed/no-touch",
          confirmation: { answer: "yes", by: "ann", scope: "once", second: { by: "ben", at: 1 } },
        },
      ],
    }),
  ]),
  record(13, "refusal", [
    bash("c9", { verdict: "deny", confirmation: { answer: "no", by: "ben", first: { by: "ann" } } }),
  ]),
  record(14, "refusal", [
    bash("c10", { verdict: "deny", confirmation: { answer: "timeout", by: "", first: { by: "ann" } } }),
  ]),
];

async function explain(id: string, ...more: string[]) {
  await using workspace = await temporaryDirectory();
  await using state = await temporaryDirectory();
  const file = usualLedgerPath(workspace.root);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${records.map((each) => JSON.stringify(each)).join("\n")}\nno record at all\n`);
  const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
  const code = await runCommandLine(["ledger", "explain", id, ...more], console);
  return { code, printed: console.printed(), complained: console.complained() };
}

test.each([
  [
    "1",
    [
      "Bash “rm a.txt” was about to run; it ended with exit code 0, and the result was not verified",
      "ann said yes, for this once",
    ],
  ],
  [
    "1",
    [
      "INT-001 was selected",
      "run sandboxed",
      "commands/not-proven-to-read, which is built in, asked for a person's yes",
    ],
  ],
  ["3", ["was refused; nothing ran", "nobody was asked", "no-prod, from the project's rule file, refused it"]],
  ["4", ["was refused; nothing ran", "nobody: ben said no", "commands/not-proven-to-read, which is built in, asked"]],
  ["5", ["nobody: the question was not answered in time", "no-x, from the policy of those who manage this machine,"]],
  ["6", ["no record says how it ended", "no question was needed: no rule asked", "none asked or refused"]],
  ["7", ["a person's review", "1 kept", "“fine”"]],
  ["8", ["ann approved the plan p1 (authenticated)"]],
  ["9", ["it failed, the failure is timeout", "the yes to the call c1 was still valid, for everything like rm *.txt"]],
  ["9", ["b.txt: deleted"]],
  ["12", ["ann and ben said yes, for this once", "no-touch, from the policy of those who manage this machine, asked"]],
  ["13", ["nobody: ben said no, after ann had agreed"]],
  ["14", ["ann alone: no second person answered in time"]],
  ["00000003", ["Record 3, a refusal, 2026-11-22 10:00:03 UTC"]],
  ["c1", ["Record 1,", "Record 2,"]],
])("seed 000: explain %s says %j", async (id, wanted) => {
  const { code, printed } = await explain(id);
  expect(code).toBe(0);
  for (const text of wanted) expect(printed).toContain(text);
});

test("of what was asked about before it ran, nothing says that no rule asked", async () => {
  const { printed } = await explain("12");
  expect(printed).not.toMatch(/no rule asked|none asked/);
});

test("what stands in records writes nothing else to the terminal", async () => {
  expect((await explain("6")).printed).not.toContain("\u001b[2J");
});

test("an id that means nothing, or too much, says what to do", async () => {
  expect(await explain("99")).toMatchObject({ code: 1, complained: expect.stringContaining("gennai ledger show") });
  expect(await explain("0000")).toMatchObject({ code: 2, complained: expect.stringContaining("Say more of the id") });
});

test("as JSON", async () => {
  const [explanation] = JSON.parse((await explain("3", "--json")).printed) as [{ title: string }];
  expect(explanation.title).toContain("Record 3");
});

test("a step of a plan names the plan and its approval", async () => {
  expect((await explain("11")).printed).toContain("it is the step s1 of the plan p1, which ann approved, record 8");
});
