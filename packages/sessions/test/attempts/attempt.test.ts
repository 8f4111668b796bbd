import {
  type Attempt,
  type AttemptSet,
  attemptSetFromJson,
  attemptSetToJson,
} from "@gennai/protocol/model/session/attempt";
import { expect, test } from "vitest";
import { waitingAttempt, withAttempts } from "#attempts/attempt";

const file = { kind: "executable", sha256: "1" } as const;
const changes = [{ path: "a", before: undefined, after: file }];

function attempt(number: number, of: Partial<Attempt>): Attempt {
  const ended = { phase: "ended", outcome: "completed", check: "passed", addedLines: 1, changes } as const;
  return { ...waitingAttempt(number), ...ended, ...of };
}

const asked = { id: "1", prompt: "do", check: "true", startedAt: 5, startedIn: "s" };
const empty: AttemptSet = { ...asked, isRunning: true, attempts: [], suggested: undefined };

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
  const set = withAttempts(empty, attempts);
  expect([set.isRunning, set.suggested, set.attempts.map(({ number }) => number)]).toEqual([false, order[0], order]);
});

test("none is suggested before all have ended, or if none changed anything", () => {
  const running = withAttempts(empty, [waitingAttempt(1), attempt(2, {})]);
  expect(running).toMatchObject({ isRunning: true, suggested: undefined, attempts: [{ number: 1 }, { number: 2 }] });
  expect(withAttempts(empty, [attempt(1, { changes: [] })]).suggested).toBeUndefined();
});

test("a set is the same after it was stored", () => {
  const link = { kind: "link", sha256: "2" } as const;
  const costly = attempt(2, { tokens: 7, cost: { amount: 0.5, currency: "EUR" }, sessionId: "s2", text: "Done." });
  const linked = attempt(1, { changes: [{ path: "b", before: link, after: undefined }], outcome: "interrupted" });
  const set = withAttempts(empty, [linked, costly, waitingAttempt(3)]);
  expect(attemptSetFromJson(attemptSetToJson(set))).toEqual(set);
});
