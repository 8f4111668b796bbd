import type { Attempt, AttemptSet } from "@gennai/protocol/model/session/attempt";
import { expect, test } from "vitest";
import { attemptFacts, attemptFiles, attemptState, setFacts, setWords } from "#attempts/attempt-words";

function file(sha256: string, kind: "file" | "link" = "file") {
  return { kind, sha256 };
}

function attempt(of: Partial<Attempt> = {}): Attempt {
  return {
    number: 1,
    phase: "ended",
    sessionId: "s",
    outcome: "completed",
    check: "passed",
    checkOutput: "",
    text: "",
    addedLines: 1,
    removedLines: 0,
    tokens: 0,
    cost: undefined,
    changes: [{ path: "a", before: file("1"), after: file("2") }],
    ...of,
  };
}

function set(attempts: readonly Attempt[], of: Partial<AttemptSet> = {}): AttemptSet {
  return {
    id: "1",
    prompt: "do",
    check: "true",
    startedAt: 0,
    startedIn: "s",
    isRunning: false,
    suggested: undefined,
    attempts,
    ...of,
  };
}

test.each<[Partial<Attempt>, string]>([
  [{ phase: "waiting", outcome: undefined }, "Waiting quiet"],
  [{ phase: "working", outcome: undefined }, "Working busy"],
  [{ phase: "checking", outcome: undefined }, "Checking busy"],
  [{}, "Check passed good"],
  [{ check: "failed" }, "Check failed bad"],
  [{ check: "not_run", changes: [] }, "Not checked quiet"],
  // What happened to it says more than a check that did not run.
  [{ outcome: "cancelled", check: "not_run" }, "Stopped quiet"],
  [{ outcome: "interrupted", check: "not_run" }, "Broken off warn"],
  [{ outcome: "error", check: "not_run" }, "Ended with an error bad"],
  [{ outcome: "failed", check: "not_run" }, "Not made bad"],
])("%j is said as %s", (of, said) => {
  const { word, tone } = attemptState(attempt(of));
  expect(`${word} ${tone}`).toBe(said);
});

test.each<[Partial<Attempt>, string]>([
  [{}, "1 file"],
  [{ changes: [], tokens: 1234 }, "nothing changed, 1.2k tokens"],
  [{ phase: "working", changes: [] }, ""],
  [{ cost: { amount: 0.00312, currency: "USD" } }, "1 file, 0.0031 USD"],
  [{ cost: { amount: 12, currency: "" } }, "1 file, 12.00"],
])("the facts of %j are %j", (of, said) => {
  expect(attemptFacts(attempt(of))).toBe(said);
});

test("what all of them took is added up", () => {
  const cost = { amount: 0.5, currency: "EUR" };
  expect(setFacts(set([attempt({ tokens: 900, cost }), attempt({ tokens: 300, cost })]))).toBe(
    "1.2k tokens in all, 1.00 EUR",
  );
  expect(setFacts(set([attempt()]))).toBe("");
});

test.each<[string, AttemptSet, string]>([
  ["while they run", set([attempt(), attempt({ phase: "working" })], { isRunning: true }), "1 of 2 have ended."],
  ["with one whose check passed", set([attempt()], { suggested: 1 }), "Attempt 1 is suggested: its check passed"],
  ["with none", set([attempt({ check: "failed" })], { suggested: 1 }), "No check passed."],
  ["where nothing was changed", set([attempt({ changes: [] })]), "None of them changed anything"],
])("%s, a set says so", (_when, of, said) => {
  expect(setWords(of)).toContain(said);
});

test("files have their operation, and links are no files to review", () => {
  const changes = [
    { path: "made", before: undefined, after: file("2") },
    { path: "gone", before: file("1"), after: undefined },
    { path: "led", before: undefined, after: file("3", "link") },
  ];
  expect(attemptFiles(attempt({ changes }))).toEqual([
    { path: "made", operation: "create", afterSha256: "2" },
    { path: "gone", operation: "delete", beforeSha256: "1" },
  ]);
});
