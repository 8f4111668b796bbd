import { expect, test } from "vitest";
import { skillsBlock } from "#prompt/skills-block";

test("skills are a line each, no matter who wrote them, and bounded", () => {
  expect(skillsBlock([])).toBe("");
  const block = skillsBlock([
    { name: "release", description: "How\nto\u001b release", from: "repository" },
    { name: "review", description: "How to review", from: "user" },
  ]);
  expect(block.split("\n").slice(1)).toEqual([
    "- release (of this repository): How to release",
    "- review: How to review",
  ]);
  const many = Array.from({ length: 100 }, (_, at) => ({
    name: `s${at}`,
    description: "x".repeat(1024),
    from: "user" as const,
  }));
  const bounded = skillsBlock(many);
  expect(bounded.length).toBeLessThan(13_000);
  expect(bounded).toMatch(/- and 89 more$/);
});
