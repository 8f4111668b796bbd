import { git } from "@gennai/git/run/run-git";
import { plural } from "@gennai/protocol/plural";

/** Lines of diff that are shown. */
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
  const lines = linesOf(tracked?.code === 0 ? tracked.stdout : "");
  const left = (untracked?.stdout ?? "").split("\0").filter((path) => path !== "");
  while (lines.length <= shownLines) {
    const path = left.shift();
    if (path === undefined) return lines.map((line) => `${line}\n`).join("");
    // Git returns exit code 1 for a difference, which there always is.
    lines.push(...linesOf((await run("diff", ...plain, "--no-index", "--", "/dev/null", path))?.stdout ?? ""));
  }
  const more = [
    plural(lines.length - shownLines, "more line"),
    ...(left.length > 0 ? [plural(left.length, "more new file")] : []),
  ];
  return `${lines.slice(0, shownLines).join("\n")}\n… ${more.join(" and ")}: git diff, git status\n`;
}

function linesOf(diff: string): string[] {
  return diff === "" ? [] : diff.replace(/\n$/, "").split("\n");
}

const plain = ["--no-color", "--relative"];

function literally(path: string): string {
  return `:(literal)${path}`;
}
