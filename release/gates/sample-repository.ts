import { cpSync } from "node:fs";
import { inRepository } from "../../scripts/lib/repository.mjs";
import { runProgram } from "./run-program.ts";

/** Makes a git repository of the sample workspace, committed on `main`. Gives its path. */
export async function sampleRepository(
  workspace: string,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<string> {
  cpSync(inRepository("examples", "sample-workspace"), workspace, { recursive: true });
  const git = async (...args: readonly string[]) => {
    const identity = ["-c", "user.name=Release", "-c", "user.email=release@gennai.invalid"];
    const { code, output } = await runProgram("git", [...identity, ...args], { cwd: workspace, env, signal });
    if (code !== 0) throw new Error(output);
  };
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "As it was");
  return workspace;
}
