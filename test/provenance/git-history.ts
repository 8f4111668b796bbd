import { blobs, git } from "../eval/recorded/git-objects.ts";
import type { HistoryStep } from "./replayed-history.ts";

const maxBytes = 200_000;
const nothing = /^0+$/;

/** The newest first-parent commits of a repository, oldest first, a step for each text file. */
export async function gitHistory(gitDir: string, count: number): Promise<readonly HistoryStep[]> {
  const format = ["--format=commit %H", "--raw", "--no-abbrev", "--no-renames", "-m", "--first-parent", "-z"];
  const log = await git(gitDir, ["log", ...format, `--max-count=${count}`, "HEAD"]);
  const found: { commit: string; path: string; before: string; after: string }[] = [];
  const commits: string[] = [];
  const words = log.toString("utf8").split("\0");
  for (let at = 0; at < words.length; at += 1) {
    const word = (words[at] ?? "").trim();
    if (word.startsWith("commit ")) commits.push(word.slice(7));
    if (!word.startsWith(":")) continue;
    const [oldMode = "", newMode = "", before = "", after = ""] = word.slice(1).split(" ");
    at += 1;
    const isFile = [oldMode, newMode].every((mode) => mode.startsWith("100") || nothing.test(mode));
    if (isFile && before !== after) found.push({ commit: commits.at(-1) ?? "", path: words[at] ?? "", before, after });
  }
  const ids = new Set(found.flatMap(({ before, after }) => [before, after]).filter((id) => !nothing.test(id)));
  const contents = await blobs(gitDir, ids);
  /** `null`: it is not text, or too long. */
  const textOf = (id: string): string | undefined | null => {
    if (nothing.test(id)) return undefined;
    const bytes = contents.get(id);
    if (bytes === undefined || bytes.length > maxBytes || bytes.includes(0)) return null;
    return bytes.toString("utf8");
  };
  const numbers = new Map(commits.toReversed().map((commit, at) => [commit, at + 1]));
  return found.toReversed().flatMap(({ commit, path, before: from, after: to }): readonly HistoryStep[] => {
    const [before, after] = [textOf(from), textOf(to)];
    if (before === null || after === null) return [];
    return [{ commit: numbers.get(commit) ?? 0, path, before, after }];
  });
}
