import type { ToolOutcome } from "@gennai/governance/tool";
import type { CommandRun } from "@gennai/machine/process/run-command";
import { withNotes } from "../command-output.ts";

export const maxTimeoutMs = 600_000;

/** The result of a command, for the model. @param more notes after the output, each in brackets */
export function commandOutcome(run: CommandRun, timeoutMs: number, more: readonly string[]): ToolOutcome {
  const end = endOf(run, timeoutMs);
  const notes = [`[${end.note}]`, ...encodingNotes(run), ...more];
  if (run.state === "timed-out") {
    notes.push(
      `[timeout_ms may be ${maxTimeoutMs} at most; run_in_background is for what takes longer, and for servers]`,
    );
  }
  if (run.survivors.length > 0) notes.push(`[processes that could not be ended: ${run.survivors.join(", ")}]`);
  return {
    output: withNotes(run.output, notes),
    truncated: run.leftOut > 0,
    ...(run.exitCode === undefined || run.state !== "exited" ? {} : { exitCode: run.exitCode }),
    ...(end.failure === undefined ? {} : { failure: end.failure }),
  };
}

/** Tells the model that what the command leaves in the background ends with it. */
export function jobNotes(text: string): readonly string[] {
  const bare = text.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "");
  return /(?<![&|<>\\])&(?![&>])/.test(bare) && !/\b(?:wait|kill|fg)\b/.test(bare)
    ? ["[what `&` started has ended with the command: run a server or watcher by itself, with run_in_background]"]
    : [];
}

/** Tells the model that its text differs from the printed bytes, and gives their digest. */
function encodingNotes({ encoding, outputSha256 }: CommandRun): readonly string[] {
  if (encoding === "utf-8") return [];
  const what =
    encoding === "utf-16"
      ? "UTF-16, shown as text"
      : "not UTF-8 text: what could not be read is shown as \uFFFD or left out";
  return [`[the output is ${what}; SHA-256 of its bytes: ${outputSha256}]`];
}

function endOf(
  run: CommandRun,
  timeoutMs: number,
): { readonly note: string; readonly failure?: ToolOutcome["failure"] } {
  switch (run.state) {
    case "timed-out": {
      const note = `timed out after ${timeoutMs / 1000} s`;
      return { note, failure: { failureClass: "timeout", message: `The command ${note}.` } };
    }
    case "aborted":
      return {
        note: "stopped before it ended",
        failure: { failureClass: "partial_execution", message: "The command was stopped before it ended." },
      };
    case "too-much-output":
      return {
        note: "ended, because it printed too much",
        failure: { failureClass: "command_error", message: "The command printed too much and was ended." },
      };
    case "over-limit": {
      const message = `The command was ended, because ${run.exceeded ?? "it took too much of the machine"}.`;
      return {
        note: message.slice(0, -1).replace("The command was ", ""),
        failure: { failureClass: "command_error", message },
      };
    }
    case "exited": {
      if (run.exitCode === 0) return { note: "exit code 0" };
      const note = run.exitCode === undefined ? `ended by signal ${run.signal}` : `exit code ${run.exitCode}`;
      return {
        note,
        failure: { failureClass: "command_error", message: `The command ended with ${note.replace("ended by ", "")}.` },
      };
    }
  }
}
