import { onTestFinished } from "vitest";
import { type WatchedWorkspace, watchedWorkspace } from "./watched-workspace.ts";

/** A watched repository on the branch `work`, beside `main` and `release/1`, each a commit of its own; gone when the test has ended. */
export async function branchProject(options: { readonly sandboxed?: boolean } = {}): Promise<WatchedWorkspace> {
  const made = await watchedWorkspace({ "src/a.ts": "a\n", "AGENTS.md": "Be kind.\n" }, options);
  onTestFinished(() => made[Symbol.asyncDispose]());
  const { git, write } = made;
  await git("config", "user.name", "n");
  await git("config", "user.email", "e@example.org");
  await git("branch", "-M", "main");
  for (const branch of ["release/1", "other", "work"]) {
    await git("checkout", "-qb", branch);
    write("src/a.ts", `${branch}\n`);
    await git("commit", "-qam", branch);
  }
  await git("update-ref", "refs/remotes/origin/trunk", "main");
  await git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
  await git("branch", "-f", "trunk", "main");
  return made;
}
