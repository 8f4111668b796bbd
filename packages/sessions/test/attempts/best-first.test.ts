import { expect, test } from "vitest";
import type { Attempt } from "#attempts/attempt";
import { bestFirst } from "#attempts/best-first";

function attempt(number: number, of: Partial<Attempt>): Attempt {
  return {
    number,
    phase: "ended",
    sessionId: "s",
    outcome: "completed",
    check: "passed",
    checkOutput: "",
    text: "",
    addedLines: 1,
    removedLines: 0,
    tokens: 0,
    changes: [{ path: "a" }],
    ...of,
  };
}

test.each<[string, readonly Partial<Attempt>[], readonly number[]]>([
  ["a check that passes wins over fewer lines", [{ check: "failed" }, { addedLines: 90 }], [2, 1]],
  [
    "then fewer changed lines, added and removed",
    [{ addedLines: 3 }, { removedLines: 1 }, { addedLines: 1 }],
    [3, 2, 1],
  ],
  ["then the earlier one", [{}, {}, {}], [1, 2, 3]],
  ["what changed nothing comes last", [{ changes: [], addedLines: 0, check: "not_run" }, { check: "failed" }], [2, 1]],
  [
    "so does what did not come to its end",
    [{ outcome: "error" }, { outcome: "cancelled" }, { check: "failed" }],
    [3, 1, 2],
  ],
])("%s", (_name, made, order) => {
  const attempts = made.map((of, index) => attempt(index + 1, of));
  expect(bestFirst(attempts).map(({ number }) => number)).toEqual(order);
});
