import { git } from "@gennai/git/run/run-git";

/** Names that files have had since, as git's history and its index show renames. None without git. */
export async function laterNames(workspaceRoot: string, paths: ReadonlySet<string>): Promise<readonly string[]> {
  const renames = [
    ["log", "--reverse", "--diff-filter=R", "--find-renames", "--name-status", "--format=", "-z", "--max-count=2000"],
    ["diff", "HEAD", "--diff-filter=R", "--find-renames", "--name-status", "-z"],
  ];
  const names = new Set<string>();
  for (const command of renames) {
    const { code, stdout } = await git(command, { directory: workspaceRoot }).catch(() => ({ code: 1, stdout: "" }));
    if (code !== 0) continue;
    const words = stdout.split("\0");
    for (let at = 0; at < words.length; at += 1) {
      // `R086`, then the old name and the new one.
      if (!/^\n?R\d+$/.test(words[at] ?? "")) continue;
      const [from = "", to = ""] = words.slice(at + 1, at + 3);
      if (to !== "" && (paths.has(from) || names.has(from))) names.add(to);
      at += 2;
    }
  }
  return [...names];
}
