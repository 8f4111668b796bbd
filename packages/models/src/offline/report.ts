import { describeFailure, type ReplyFailure } from "./tool-round.ts";

/** What happened to one step. */
export interface StepReport {
  /** False stops what was joined by `then`. */
  readonly ok: boolean;
  /** Empty when there is nothing to say yet. */
  readonly text: string;
}

export function refused(what: string, failure: ReplyFailure): StepReport {
  return { ok: false, text: `${what}: ${describeFailure(failure)}` };
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : noun === "entry" ? "entries" : `${noun}s`}`;
}

/** At most forty lines in a block whose fence cannot be closed by what is inside. */
export function fenced(lines: readonly string[], more = false): string {
  const shown = lines.slice(0, 40);
  const runs = [...shown.join("\n").matchAll(/`{3,}/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(2, ...runs) + 1);
  const rest = lines.length - shown.length;
  const note = rest > 0 ? `\n… and ${rest}${more ? " or more" : ""} more lines` : more ? "\n… and more lines" : "";
  return `${fence}\n${shown.join("\n")}\n${fence}${note}`;
}
