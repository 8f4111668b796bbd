import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import type { Policy } from "@gennai/governance/policy";
import { allow, ask, deny, type Verdict } from "@gennai/governance/verdict";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { startSession, Watcher } from "../../../e2e/rpc/session-client.ts";
import { commandFixture } from "../../command-fixture.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { sharedFixture } from "../../shared-fixtures.ts";
import { callTool, scriptOf } from "../../tool-call.ts";
import type { VerdictType } from "../commands/commands.ts";

const rulesFile = ".gennai/rules.yaml";
const finding = { code: "no", rule: "r", reason: "Because." };

/** A command that asks is answered like this, so late; it must not have run. */
async function answered(answer: ConfirmationAnswer, delayMs = 0): Promise<void> {
  await using server = await startTestServer({
    script: [scriptOf([{ tool: "Bash", args: { command: "touch made" } }])],
    server: { confirmation: { answerMs: 400, waitForClientMs: 200 } },
  });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const { requestId, actionSha256 } = await editor.next("confirmationRequest");
  await wait(delayMs);
  await editor
    .submit({ case: "confirmationResponse", value: { requestId, actionSha256, answer } })
    .catch(() => undefined);
  await editor.end();
  assert.equal(existsSync(server.workspace.path("made")), false);
}

/** With these project rules, each command has this verdict. */
async function expectUnder(
  rules: string,
  rows: readonly (readonly [command: string, verdict: VerdictType])[],
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using fixture = await commandFixture("apart", { files: { [rulesFile]: rules, ...more } });
  for (const [command, wanted] of rows) {
    const { verdict, rule, reason } = await fixture.decide(command);
    assert.equal(verdict, wanted, `${command}: ${rule} ${reason}`);
  }
}

const runs = (command: string) =>
  check(async () => assert.equal((await (await sharedFixture("apart")).decide(command)).verdict, "allow"));

/** Whether the command needs a question is another matter: no rule of paths or patterns is against it. */
const noRuleAgainst = (command: string) =>
  check(async () => {
    const { verdict, rules } = await (await sharedFixture("apart")).decide(command);
    assert.notEqual(verdict, "deny");
    assert.deepEqual(
      rules.filter(({ rule }) => rule.startsWith("rules/") || rule.startsWith("floor/")),
      [],
    );
  });

async function verdictOf(...policies: readonly Policy["decide"][]): Promise<Verdict["type"]> {
  const { verdict } = await runPolicies(
    policies.map((decide, index) => ({ name: `${index}`, kind: "guard", decide })),
    {
      callId: "c",
      toolName: "Bash",
      args: {},
      access: "change",
      analysis: { statement: "", effects: [] },
      sessionId: "s",
      turnId: "t",
    },
    { timeoutMs: 50, signal: new AbortController().signal },
  );
  return verdict.type;
}

/** A policy from outside the type system: its answer is what JSON can hold. */
function broken(json: string): Policy["decide"] {
  return async () => {
    const answer: Verdict = JSON.parse(json);
    return answer;
  };
}

export const rulesSemanticsChecks: Checks = {
  "RUL-005": check(async () => assert.notEqual((await callTool("Bash", { command: "touch made" })).code, "ok")),
  "RUL-006": check(() => answered(ConfirmationAnswer.YES, 900)),
  "RUL-007": check(async () => {
    await answered(ConfirmationAnswer.UNSPECIFIED);
    await answered(JSON.parse("99"));
  }),
  "RUL-008": check(async () => {
    const rules = "bashToolPatterns:\n  - {pattern: 'git (', reason: x}\nzeroAccessPaths: [notes.txt]\n";
    await expectUnder(rules, [
      ["touch src/new.ts", "deny"],
      ["cat notes.txt", "deny"],
      ["cat src/a.ts", "allow"],
    ]);
    await using fixture = await commandFixture("apart", { files: { [rulesFile]: rules } });
    assert.match(fixture.workbench.status.problems.join("\n"), /^\.gennai\/rules\.yaml:2: /m);
  }),
  "RUL-009": check(async () => {
    for (const text of ["", "# nothing\n", "null\n", "5\n", "- rm\n"])
      await expectUnder(text, [
        ["rm -rf src", "deny"],
        ["touch src/new.ts", "deny"],
        ["cat src/a.ts", "allow"],
      ]);
  }),
  "RUL-010": check(() =>
    expectUnder(
      "zeroAccessPaths: []\nbashToolPatterns: []\n",
      [
        ["cat notes.txt", "deny"],
        ["rm -rf src", "deny"],
      ],
      {
        "~/.config/gennai/rules.yaml": "zeroAccessPaths: [notes.txt]\n",
      },
    ),
  ),
  "RUL-013": check(() =>
    expectUnder("bashToolPatterns:\n  - {pattern: '^rm\\b', reason: no rm}\n", [
      [" ; rm -rf src", "deny"],
      ["ls ; rm src/a.ts", "deny"],
      ["env A=1 rm src/a.ts", "deny"],
    ]),
  ),
  "RUL-014": runs("cat dist/app.js"),
  "RUL-015": noRuleAgainst("npm ci"),
  "RUL-016": check(async () => {
    const { workbench } = await sharedFixture("apart");
    assert.equal((await workbench.decide("Read", { file_path: "src/environment.ts" })).verdict, "allow");
    assert.equal((await workbench.decide("Write", { file_path: "src/environment.ts", content: "x" })).verdict, "allow");
  }),
  "RUL-017": runs("grep -n 'process.env' src/a.ts"),
  "RUL-018": runs("cat README.md | wc -l"),
  "RUL-021": noRuleAgainst("git commit -m 'fix: do not rm -rf root'"),
  "RUL-022": runs("grep -rn 'git reset --hard' docs"),
  "RUL-025": check(async () => {
    const ways: readonly Policy["decide"][] = [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("broken")),
      () => new Promise(() => undefined),
      broken("null"),
      broken("{}"),
      broken('{"type":"permit"}'),
    ];
    for (const way of ways) assert.equal(await verdictOf(() => allow, way), "deny");
  }),
  "RUL-028": check(async () => {
    const [yes, question, no] = [() => allow, () => ask(finding), () => deny(finding)];
    for (const order of [
      [yes, question, no],
      [no, question, yes],
      [question, no, yes],
    ])
      assert.equal(await verdictOf(...order), "deny");
    assert.equal(await verdictOf(question, yes), "ask");
  }),
};
