import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { startSession } from "../../e2e/rpc/session-client.ts";
import { treeState } from "../look/tree-state.ts";
import { bareRun } from "./bare-run.ts";
import { comparedRuns, type QuietRun } from "./compared-runs.ts";
import { stagedTurn } from "./staged-turn.ts";

/** For a build or all tests of a project. */
const timeoutMs = 600_000;

/**
 * Runs commands one after the other in a copy of a project, staged and through the product, and bare in another copy at the
 * same path; compares both after each command. The project itself is not changed.
 */
export async function projectRuns(
  folder: string,
  commands: readonly string[],
  onResult: (run: QuietRun) => void,
): Promise<readonly QuietRun[]> {
  const place = mkdtempSync(join(tmpdir(), "gennai-bare-"));
  try {
    await using server = await startTestServer({
      script: commands.map((command) => ({
        steps: [call("Bash", { command, timeout_ms: timeoutMs }), { text: ["Done."] }],
      })),
      server: { commands: "staged" },
    });
    const { root, git } = server.workspace;
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    execFileSync("cp", ["-a", `${folder}/.`, root]);
    if (!existsSync(join(root, ".git"))) {
      await git("init", "--quiet", "--initial-branch", "main");
      await git("add", "--all");
      await git("commit", "--quiet", "--message", "first");
    }
    await git("checkout", "--quiet", "-B", "work");
    const [copy, temporary] = [join(place, "copy"), join(place, "tmp")];
    execFileSync("cp", ["-a", root, copy]);
    mkdirSync(temporary);
    const sessionId = await startSession(server);
    const runs: QuietRun[] = [];
    for (const [index, command] of commands.entries()) {
      const staged = await stagedTurn(server, sessionId, "go");
      const bare = await bareRun(command, { root, copy, temporary, home: homedir(), timeoutMs });
      const ran = { ...bare, state: treeState(copy) };
      const each = { id: String(index + 1), class: "", command };
      const run = comparedRuns(each, { ...staged, state: treeState(root) }, [ran, ran]);
      runs.push(run);
      onResult(run);
    }
    return runs;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
