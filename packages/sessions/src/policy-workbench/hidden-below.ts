import { secretInGlob } from "@gennai/governance/command/secret-paths";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { pathName } from "../tools/path-name.ts";

/** Maximum files examined. */
const maxFiles = 50_000;

/**
 * Throws `ToolFailure` if another program's search would show what ours hides: files that no search may reach, below the
 * searched directory. Ignored files are not seen here, nor by a search without a glob; a wide glob reaches them, so it is
 * refused.
 *
 * @param globs of the files that are searched; none: all
 */
export async function refuseHiddenBelow(
  at: WorkspacePath,
  globs: readonly string[],
  { workspace, searchExcludes }: { readonly workspace: Workspace; readonly searchExcludes: readonly string[] },
): Promise<void> {
  if (!at.inside || searchExcludes.length === 0 || (await workspace.stat(at))?.kind !== "directory") return;
  const wanted = globs.filter((glob) => !glob.startsWith("!"));
  for (const glob of wanted) {
    if (secretInGlob(glob, { dot: true }) !== undefined)
      throw refusal(at, `the glob ${glob} takes in files with secrets`);
  }
  const { signal } = new AbortController();
  for (const glob of wanted.length === 0 ? ["**"] : wanted) {
    const [all, shown] = await Promise.all([
      workspace.glob(glob, at, { limit: maxFiles, signal }),
      workspace.glob(glob, at, { limit: maxFiles, exclude: searchExcludes, signal }),
    ]);
    if (all.truncated) throw refusal(at, "there are too many files below it to look through");
    const seen = new Set(shown.paths);
    const hidden = all.paths.find((path) => !seen.has(path));
    if (hidden !== undefined) throw refusal(at, `${hidden} is not for the agent`);
  }
}

function refusal(at: WorkspacePath, why: string): ToolFailure {
  return new ToolFailure("path_not_allowed", `${pathName(at)} cannot be searched as a whole: ${why}.`, {
    hint: "Narrow the search: a path below it, or a glob such as *.ts.",
  });
}
