import type { SessionState } from "../state/session-state.ts";

/** What a user can do after a failed run. Nothing of it happens without their approval. */
export function remediationOf(
  end: "failed" | "partial" | "interrupted",
  state: SessionState,
  runTurnId: string,
): string {
  const changeSet = state.changeSets.get(runTurnId);
  const files = [...new Set(changeSet?.files.map(({ path }) => path))];
  const beginning = {
    failed: "The run failed and no step took effect.",
    partial: "The run stopped early: some steps took effect, the others did not.",
    interrupted: "The server went away during the run: the last step may or may not have taken effect.",
  }[end];
  if (end === "failed") return `${beginning} Correct the plan and submit it again.`;
  const undo =
    files.length === 0
      ? "It changed no file by itself; only you can undo what its commands did."
      : `To undo its changes to ${named(files)}, approve the undo of the change set ${runTurnId} (UndoChangeSet). ` +
        "What its commands did is not part of it: look at the workspace.";
  return `${beginning} ${undo} To go on instead, submit a plan of the remaining steps and approve it.`;
}

function named(files: readonly string[]): string {
  const shown = files.slice(0, 5).join(", ");
  return files.length > 5 ? `${shown} and ${files.length - 5} more` : shown;
}
