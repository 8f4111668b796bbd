import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Question } from "#confirmation";
import type { Effect } from "#effect";
import { buildQuestion, type QuestionContext } from "#gate/confirm/build-question";
import { RememberedAnswers } from "#gate/confirm/remembered-answers";
import { ask } from "#verdict";
import { exec } from "../../policies/effects.ts";

const finding = { code: "no", rule: "test/rule", reason: "Because." };

function question(
  effects: readonly Effect[],
  context: Partial<QuestionContext> = {},
  { risk = "medium", rule = "test/rule" }: { readonly risk?: Risk; readonly rule?: string } = {},
): Question {
  return buildQuestion(
    {
      type: "decided",
      call: { id: "c", name: "Bash", argumentsJson: "{}" },
      tool: {
        name: "Bash",
        description: "",
        parameters: z.strictObject({}),
        access: "change",
        analyse: () => Promise.reject(new Error("not here")),
        execute: () => Promise.reject(new Error("not here")),
      },
      args: {},
      analysis: { statement: "Run `npm test`", effects, claim: "harmless" },
      verdict: ask(finding),
      fired: [],
      risk,
      argumentsJson: '{"command":"npm test"}',
      input: "{}",
      warnings: [],
    },
    { ...finding, rule },
    { turnId: "t", policySha256: "p", intent: undefined, ...context },
  );
}

const typed = (): Effect => {
  const effect = exec("npm test");
  return effect.type === "exec" ? { ...effect, where: "client" } : effect;
};

const stagedCommand = (): Effect => {
  const effect = exec("npm test");
  return effect.type === "exec" ? { ...effect, staged: true } : effect;
};

describe("seed 003 §5 payload: intent reflection, plain action statement, impact statement", () => {
  it.each([
    [undefined, "No intent is selected for this session."],
    [{ id: "INT-001", name: "Colours" }, "This serves the intent INT-001: Colours."],
    [{ id: "INT-002", name: "" }, "This serves the intent INT-002: (no name)."],
  ])("the intent %o: %s", (intent, reflection) => {
    expect(question([exec("npm test")], { intent })).toMatchObject({
      intentReflection: reflection,
      actionStatement: "Run `npm test`",
      modelClaim: "harmless",
    });
  });

  it.each<[string, Effect, RegExp]>([
    ["on a stage", stagedCommand(), /on a copy, and what it changes is looked at/],
    ["outside a stage", exec("npm test"), /where the files are, with the rights of whoever runs Gennai there/],
    ["in the user's terminal", typed(), /terminal of the session's user/],
  ])("says where a command runs: %s", (_name, effect, says) => {
    expect(question([effect]).impactStatement).toMatch(says);
  });
});

describe("what a yes is remembered for", () => {
  it("is said with the rule and the exact action, and not where only once is offered", () => {
    const asked = question([exec("npm test")]);
    expect(asked.rememberStatement).toContain("the rule test/rule for this action alone");
    expect(asked.rememberStatement).toContain(asked.actionSha256.slice(0, 12));
    const high = question([exec("npm test")], {}, { risk: "high" });
    expect(high).toMatchObject({ rememberStatement: "", offeredScopes: ["once"] });
    const higher = question([exec("npm test")], {}, { risk: "critical" as Risk });
    expect(higher).toMatchObject({ rememberStatement: "", offeredScopes: ["once"] });
    expect(higher.impactStatement).toContain("not be possible to undo this");
  });

  it.each<[string, Exclude<ConfirmationScope, "workspace">, Question, boolean]>([
    ["the same question", "session", question([exec("npm test")]), true],
    ["another turn", "session", question([exec("npm test")], { turnId: "u" }), true],
    ["another turn, for the turn", "turn", question([exec("npm test")], { turnId: "u" }), false],
    ["another rule", "session", question([exec("npm test")], {}, { rule: "rules/project/1" }), false],
    ["another action", "session", question([exec("npm test > /tmp/x")]), false],
    ["a higher risk", "session", question([exec("npm test")], {}, { risk: "high" }), false],
    ["once", "once", question([exec("npm test")]), false],
  ])("holds for %s (%s)", (_name, scope, later, holds) => {
    const remembered = new RememberedAnswers();
    remembered.remember(question([exec("npm test")]), scope);
    expect(remembered.find(later) !== undefined).toBe(holds);
  });
});
