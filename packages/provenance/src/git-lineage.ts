import { git } from "@gennai/git/run/run-git";

/** Paths that a file had, its own among them, as git's history shows renames and copies. Without git, its own alone. */
export async function pathsOf(workspaceRoot: string, path: string): Promise<ReadonlySet<string>> {
  const paths = new Set([path]);
  const log = ["log", "--follow", "--find-copies", "--name-status", "--format=", "-z", "--max-count=2000"];
  const { code, stdout } = await git([...log, "--", path], { directory: workspaceRoot }).catch(() => ({
    code: 1,
    stdout: "",
  }));
  if (code !== 0) return paths;
  const words = stdout.split("\0");
  for (let at = 0; at < words.length; at += 1) {
    // `R086`, then the old name and the new one.
    if (!/^\n?[RC]\d+$/.test(words[at] ?? "")) continue;
    for (const name of [words[at + 1], words[at + 2]]) if (name !== undefined && name !== "") paths.add(name);
  }
  return paths;
}
