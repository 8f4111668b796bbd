import { describe, expect, it } from "vitest";
import type { Answer } from "#confirmation";
import type { PersistentApprovals } from "#gate/confirm/persistent-approvals";
import { ask, deny } from "#verdict";
import { finding, gateWith } from "../gate-fixture.ts";

it("remembered answers: holds for the exact action only", async () => {
  const { run, questions } = gateWith({
    verdicts: [ask(finding)],
    answer: { type: "yes", scope: "session", by: "user" },
  });
  await run("Change", { value: "a" });
  await run("Change", { value: "a" });
  expect(questions).toHaveLength(1);
  await run("Change", { value: "b" });
  expect(questions).toHaveLength(2);
});

describe("a yes for the workspace", () => {
  const answer: Answer = { type: "yes", scope: "workspace", by: "user" };

  /** Keeps one yes, for one call's question. */
  function lasting(kept: { action?: string; rules?: readonly string[] } = {}): PersistentApprovals {
    return {
      offer: () => "It holds for good.",
      find: async ({ actionSha256 }, rules) =>
        actionSha256 === kept.action && rules.every((rule) => kept.rules?.includes(rule))
          ? { callId: "old" }
          : undefined,
      remember: async ({ actionSha256 }, rules) => {
        kept.action = actionSha256;
        kept.rules = rules;
      },
    };
  }

  it("is offered where answers are kept, asked once, and recorded as remembered", async () => {
    const kept = lasting();
    const first = gateWith({ verdicts: [ask(finding)], lasting: kept, answer });
    await first.run("Change");
    expect(first.questions[0]).toMatchObject({
      offeredScopes: ["once", "turn", "session", "workspace"],
      rememberStatement: expect.stringContaining("It holds for good."),
    });
    // Another session's gate, with nothing in its memory.
    const second = gateWith({ verdicts: [ask(finding)], lasting: kept });
    expect((await second.run("Change"))[0]?.refused).toBe(false);
    expect(second.questions).toEqual([]);
    const other = gateWith({ verdicts: [ask({ ...finding, rule: "test/other" })], lasting: kept });
    await other.run("Change");
    expect(other.questions).toHaveLength(1);
    const changed = gateWith({ verdicts: [ask(finding)], lasting: kept });
    await changed.run("Change", { value: "x" });
    expect(changed.questions).toHaveLength(1);
  });

  it("lifts no deny, and is not offered without a keeper", async () => {
    const kept = lasting();
    await gateWith({ verdicts: [ask(finding)], lasting: kept, answer }).run("Change");
    expect((await gateWith({ verdicts: [deny(finding)], lasting: kept }).run("Change"))[0]?.refused).toBe(true);
    const plain = gateWith({ verdicts: [ask(finding)] });
    await plain.run("Change");
    expect(plain.questions[0]?.offeredScopes).not.toContain("workspace");
  });
});
