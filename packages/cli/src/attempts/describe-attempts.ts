import type { Attempt, AttemptSet } from "@gennai/protocol/model/session/attempt";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { utcTime } from "../terminal/utc-time.ts";

/** One prompt and its attempts, best first. */
export function describeAttempts({ id, prompt, check, attempts, startedAt }: AttemptSet): string {
  const when = utcTime(startedAt);
  const head = `${id}  ${when}  ${shortened(prompt)}\n  decided by: ${shortened(check)}\n`;
  return head + attempts.map((attempt) => `  ${describeAttempt(attempt)}\n`).join("");
}

export function describeAttempt({
  number,
  phase,
  outcome,
  check,
  changes,
  addedLines,
  removedLines,
  text,
}: Attempt): string {
  if (phase !== "ended") return `attempt ${number}  ${phase}`;
  const what = changes.length === 0 ? "nothing changed" : `${counted(changes.length)}, +${addedLines} -${removedLines}`;
  const said = checkWords[check];
  const end = outcome === "completed" ? "" : `  ${outcome}: ${shortened(text)}`;
  return `attempt ${number}  ${said.padEnd(12)}  ${what}${end}`;
}

const checkWords = { passed: "check passed", failed: "check failed", not_run: "not checked" } as const;

function counted(files: number): string {
  return `${files} ${files === 1 ? "file" : "files"}`;
}

function shortened(text: string): string {
  const line = terminalSafe(text).replaceAll(/\s+/g, " ").trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
