import { git } from "@gennai/machine/git/run/run-git";

/** Lines of diff that are shown; `git diff` has the rest. */
const shownLines = 200;

/** The difference of these files from the last commit, as a unified diff; empty if git cannot tell. */
export async function workingTreeDiff(
  directory: string,
  paths: readonly string[],
  options: { readonly signal: AbortSignal },
): Promise<string> {
  const run = (...args: readonly string[]) => git(args, { directory, ...options }).catch(() => undefined);
  const [tracked, untracked] = await Promise.all([
    run("diff", ...plain, "HEAD", "--", ...paths.map(literally)),
    run("ls-files", "--others", "--exclude-standard", "-z", "--", ...paths.map(literally)),
  ]);
  let diff = tracked?.code === 0 ? tracked.stdout : "";
  for (const path of untracked?.stdout.split("\0") ?? []) {
    if (path === "") continue;
    // Git returns exit code 1 for a difference, which there always is.
    diff += (await run("diff", ...plain, "--no-index", "--", "/dev/null", path))?.stdout ?? "";
  }
  const lines = diff.replace(/\n$/, "").split("\n");
  if (lines.length <= shownLines) return diff;
  return `${lines.slice(0, shownLines).join("\n")}\n… ${lines.length - shownLines} more lines: git diff\n`;
}

const plain = ["--no-color", "--relative"];

function literally(path: string): string {
  return `:(literal)${path}`;
}
