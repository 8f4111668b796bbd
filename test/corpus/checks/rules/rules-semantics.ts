import assert from "node:assert/strict";
import { type Checks, check } from "../../corpus-case.ts";
import { sharedFixture } from "../../shared-fixtures.ts";

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

export const rulesSemanticsChecks: Checks = {
  "RUL-015": noRuleAgainst("npm ci"),
  "RUL-017": runs("grep -n 'process.env' src/a.ts"),
  "RUL-018": runs("cat README.md | wc -l"),
};
