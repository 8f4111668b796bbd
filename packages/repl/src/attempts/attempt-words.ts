import { type Attempt, type AttemptSet, isLink } from "@gennai/protocol/model/session/attempt";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { countWords } from "../chat/words.ts";

/** A state as a word, and the tone in which it is shown. */
export interface ShownState {
  readonly word: string;
  readonly tone: "good" | "bad" | "warn" | "quiet" | "busy";
}

/** The progress of an attempt, or how it ended. */
export function attemptState({ phase, outcome, check }: Attempt): ShownState {
  if (phase !== "ended")
    return {
      word: { waiting: "Waiting", working: "Working", checking: "Checking" }[phase],
      tone: phase === "waiting" ? "quiet" : "busy",
    };
  switch (outcome) {
    case "cancelled":
      return { word: "Stopped", tone: "quiet" };
    case "error":
      return { word: "Ended with an error", tone: "bad" };
    case "interrupted":
      return { word: "Broken off", tone: "warn" };
    case "failed":
      return { word: "Not made", tone: "bad" };
    default:
      return checkStates[check];
  }
}

const checkStates = {
  passed: { word: "Check passed", tone: "good" },
  failed: { word: "Check failed", tone: "bad" },
  not_run: { word: "Not checked", tone: "quiet" },
} as const;

/** What it changed and used, e.g. `2 files, 1.2k tokens, 0.0031 USD`. */
export function attemptFacts({ phase, changes, tokens, cost }: Attempt): string {
  const changed =
    changes.length === 0 ? (phase === "ended" ? ["nothing changed"] : []) : [plural(changes.length, "file")];
  const used = tokens === 0 ? [] : [`${countWords(tokens)} tokens`];
  return [...changed, ...used, ...(cost === undefined ? [] : [costWords(cost)])].join(", ");
}

function costWords({ amount, currency }: NonNullable<Attempt["cost"]>): string {
  const digits = amount === 0 || amount >= 1 ? 2 : 4;
  return `${amount.toFixed(digits)} ${currency}`.trim();
}

/** State of a set of attempts, in one sentence. */
export function setWords({ isRunning, attempts, suggested }: AttemptSet): string {
  const ended = attempts.filter(({ phase }) => phase === "ended").length;
  if (isRunning) return `${ended} of ${attempts.length} have ended.`;
  if (suggested === undefined) return "None of them changed anything that is worth taking.";
  const passed = attempts.find(({ number }) => number === suggested)?.check === "passed";
  return passed
    ? `Attempt ${suggested} is suggested: its check passed, with the fewest changed lines.`
    : `No check passed. Of those that changed something, attempt ${suggested} changed the fewest lines.`;
}

/** The files of an attempt as changed files are shown elsewhere, without links: of those only the names are shown. */
export function attemptFiles({ changes }: Attempt): readonly AppliedFile[] {
  return changes
    .filter((change) => !isLink(change))
    .map(({ path, before, after }) => ({
      path,
      operation: before === undefined ? "create" : after === undefined ? "delete" : "update",
      ...(before === undefined ? {} : { beforeSha256: before.sha256 }),
      ...(after === undefined ? {} : { afterSha256: after.sha256 }),
    }));
}

/** Text about the total of all attempts in a set. */
export function setFacts({ attempts }: AttemptSet): string {
  const tokens = attempts.reduce((sum, attempt) => sum + attempt.tokens, 0);
  const costs = attempts.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  const cost = costs.reduce((sum, { amount }) => sum + amount, 0);
  const used = tokens === 0 ? [] : [`${countWords(tokens)} tokens in all`];
  return [
    ...used,
    ...(costs.length === 0 ? [] : [costWords({ amount: cost, currency: costs[0]?.currency ?? "" })]),
  ].join(", ");
}
