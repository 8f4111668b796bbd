import type { RunningTurn } from "./session-facts.ts";

/** What a turn does now, e.g. `Runs Bash`. */
export function turnWords(turn: Pick<RunningTurn, "phase" | "iteration" | "toolName"> | undefined): string {
  switch (turn?.phase) {
    case undefined:
    case "started":
      return "Starting…";
    case "thinking":
      return turn.iteration > 1 ? `Thinking, step ${turn.iteration}` : "Thinking";
    case "calling":
      return "Chooses a tool";
    case "running":
      return turn.toolName === "" ? "Works" : `Runs ${turn.toolName}`;
    case "waiting-for-person":
      return "Waits for your answer";
    case "waiting-for-client":
      return "Waits for somebody who can answer";
    case "waiting-for-tree":
      return "Waits for another session that writes here";
    case "waiting-for-provider":
      return "Waits for the model's provider";
  }
}
