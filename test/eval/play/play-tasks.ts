import { startTestServer } from "@gennai/testkit/test-server";
import type { Task } from "../recorded/tasks.ts";
import type { Score } from "../score/score.ts";
import { textInside } from "./inside.ts";
import { playTurn } from "./played-turn.ts";

/**
 * Plays the reference solution of each task: its tests have to fail before, and pass after it was written, each in a command that
 * runs as this machine runs commands: staged, where it can.
 */
export async function playTasks(tasks: readonly Task[], score: Score): Promise<void> {
  for (const task of tasks) {
    await using server = await startTestServer({
      files: task.files,
      steps: [{ text: "Nothing." }],
      server: { commands: "auto" },
    });
    const solution = Object.entries(task.solution);
    const test = [{ name: "Bash", args: { command: task.command, timeout_ms: 120_000 } }];
    const answers = [
      test,
      solution.map(([file_path]) => ({ name: "Read", args: { file_path } })),
      solution.map(([file_path, content]) => ({ name: "Write", args: { file_path, content } })),
      test,
    ];
    const results = await playTurn(server, answers);
    const stopped = results.flat().find(({ outcome }) => outcome !== "accepted");
    const [before, after] = [results[0]?.[0], results[3]?.[0]];
    const example = task.name;
    if (before?.exitCode === 0) score.add("failed", { why: "its tests pass without a solution", example });
    else if (stopped !== undefined) score.add(stopped.outcome, { why: stopped.why, example });
    else if (after?.exitCode !== 0) score.add("failed", { why: "its tests fail with the reference solution", example });
    else {
      // The tests ran since: whatever they put there is not followed out of the workspace.
      const { root } = server.workspace;
      score.add("accepted", { identical: solution.every(([path, content]) => textInside(root, path) === content) });
    }
  }
}
