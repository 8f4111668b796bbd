import fc from "fast-check";
import { expect, test } from "vitest";
import { branchNameFor } from "#branch-name";

const names = [
  ["Replace colour with color in src/**/*.ts", "ai-agent/replace-colour-with-color-in-src-ts"],
  ["  Größe ändern!  ", "ai-agent/gro-e-andern"],
  ["fix the very long and winding description of a task that never ends", "ai-agent/fix-the-very-long-and-winding"],
  ["x".repeat(60), `ai-agent/${"x".repeat(40)}`],
  ["--force; rm -rf /", "ai-agent/force-rm-rf"],
] as const;

test.each(names)("%s", (request, wanted) => {
  expect(branchNameFor(request)).toBe(wanted);
});

test("requests in another script get names of their own", () => {
  const [one, other] = [branchNameFor("テストを直す"), branchNameFor("色を変える")];
  expect(one).toMatch(/^ai-agent\/task-[0-9a-f]{8}$/);
  expect(one).not.toBe(other);
});

test("every name is one git accepts, and short", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (request) => {
      expect(branchNameFor(request)).toMatch(/^ai-agent\/[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(branchNameFor(request).length).toBeLessThanOrEqual("ai-agent/".length + 40);
    }),
  );
});
