import { cp, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitTarget, git } from "@gennai/git/run/run-git";
import { CliError } from "../../terminal/cli-error.ts";

/** A copy of a sample in the system's directory for temporary files, with one commit on `main`. Rejects with `CliError`. */
export async function copySampleWorkspace(sample: string): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "gennai-sample-"));
  const workspace = join(await realpath(parent), "workspace");
  await cp(sample, workspace, { recursive: true }).catch((error: unknown) => {
    throw new CliError(`The sample workspace cannot be copied from ${sample}.`, {
      next: ["Name a directory to work in with --workspace."],
      cause: error,
    });
  });
  const steps: readonly (readonly [args: readonly string[], writes: GitTarget["writes"]])[] = [
    [["init", "--quiet", "--initial-branch", "main"], { directory: workspace }],
    [["add", "--all"], "working-tree"],
    [commit, "working-tree"],
  ];
  for (const [args, writes] of steps) {
    const { code, stderr } = await git(args, { directory: workspace, writes });
    if (code !== 0) {
      throw new CliError(`git could not prepare the sample workspace: ${stderr.trim()}`, {
        next: ["Name a directory to work in with --workspace."],
      });
    }
  }
  return workspace;
}

const commit = [
  ...["user.name=Gennai", "user.email=gennai@localhost", "commit.gpgSign=false"].flatMap((setting) => ["-c", setting]),
  ...["commit", "--quiet", "--message", "The sample as it comes"],
];
