import { randomUUID } from "node:crypto";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { describeRefusal, placeOf } from "./refusal-place.ts";
import type { Refusal } from "./refusals.ts";

/** GitHub shows ten of each kind for a step. */
const mostShown = 10;

/**
 * GitHub takes lines of a step's output as commands
 * (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands). While the agent works it must not: a line
 * that a model writes or a file contains could command the runner. The word that ends this time is random, so that nobody can
 * know it before.
 */
export class QuietRunner {
  readonly #word = randomUUID();

  get begin(): string {
    return `::stop-commands::${this.#word}\n`;
  }

  get end(): string {
    return `\n::${this.#word}::\n`;
  }
}

/** Lines that become annotations of the run. */
export function annotationLines(refusals: readonly Refusal[], problem: string): string {
  const lines = refusals.map((refusal) => {
    const { file, line } = placeOf(refusal);
    const title = refusal.unanswered ? "Gennai: needed an answer" : "Gennai: refused";
    return {
      command: refusal.unanswered ? "warning" : "error",
      text: `file=${property(file)},line=${line},title=${property(title)}::${data(describeRefusal(refusal))}`,
    };
  });
  const shown = ["error", "warning"].flatMap((command) =>
    // One error is the problem that ended the turn.
    lines.filter((line) => line.command === command).slice(0, mostShown - (command === "error" ? 1 : 0)),
  );
  const end = problem === "" ? [] : [{ command: "error", text: `title=Gennai::${data(problem)}` }];
  return [...end, ...shown].map(({ command, text }) => `::${command} ${text}\n`).join("");
}

function data(text: string): string {
  // A line feed is hidden on a terminal's line, and spelled here.
  const lines = text
    .split(/\r?\n|\r/)
    .map(terminalSafe)
    .join("\n");
  return lines.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
