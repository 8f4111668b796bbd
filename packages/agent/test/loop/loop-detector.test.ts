import fc from "fast-check";
import { expect, test } from "vitest";
import { LoopDetector } from "../../src/loop/loop-detector.ts";

const result = (name: string, args: string, output: string) => ({
  call: { id: `${name}${args}`, name, argumentsJson: args },
  output,
});

/** The result of each result in turn, until the end. */
function findings(results: readonly ReturnType<typeof result>[]): readonly string[] {
  const detector = new LoopDetector();
  const found: string[] = [];
  for (const each of results) {
    const { type } = detector.observe([each]);
    found.push(type);
    if (type === "loop") break;
  }
  return found;
}

const a = result("Read", "a", "1");
const b = result("Read", "b", "2");
const c = result("Grep", "c", "3");
const times = (count: number, ...of: ReturnType<typeof result>[]) => Array.from({ length: count }, () => of).flat();

test.each([
  { name: "the same call", results: times(20, a), end: 7 },
  { name: "a cycle of two", results: times(20, a, b), end: 8 },
  { name: "a cycle of three", results: times(20, a, b, c), end: 10 },
])("$name is warned of once, then ends", ({ results, end }) => {
  const found = findings(results);
  expect(found).toHaveLength(end);
  expect(found.at(-1)).toBe("loop");
  expect(found.filter((type) => type === "warn")).toHaveLength(1);
});

test("something new between begins the count anew", () => {
  const results = Array.from({ length: 50 }, (_, index) => [a, a, result("Edit", "e", `${index}`)]).flat();
  expect(findings(results)).not.toContain("loop");
});

test("it never ends a turn that makes progress: other arguments, or another result", () => {
  const step = fc.record({ name: fc.constantFrom("Read", "Bash"), args: fc.constantFrom("x", "y"), again: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const results = steps.flatMap(({ name, args, again }, index) => [
        result(name, args, `new ${index}`),
        // Up to five looks at what is known already.
        ...times(again, a).slice(0, 5),
      ]);
      expect(findings(results)).not.toContain("loop");
    }),
  );
});

test("reading everything once more is not a loop, the third time is", () => {
  const files = Array.from({ length: 10 }, (_, index) => result("Read", `${index}`, `${index}`));
  expect(findings([...files, ...files])).not.toContain("loop");
  expect(findings([...files, ...files, ...files, ...files])).toContain("loop");
});

test("after a compaction the model may look again", () => {
  const detector = new LoopDetector();
  for (let round = 0; round < 10; round++) {
    for (const each of times(5, a)) expect(detector.observe([each]).type).not.toBe("loop");
    detector.forget();
  }
});
