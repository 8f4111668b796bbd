import type { AnalysisReport } from "./analysis-report.ts";
import type { CommandPath } from "./command-analysis.ts";
import type { Invocation } from "./invocation.ts";
import { gitPathAccess } from "./program-files.ts";
import { type ResolvedWord, wordTail } from "./resolve-word.ts";

/** Subcommands whose words name branches, commits and remotes; a remote may be a path, which shows by how it begins. */
const namesNoFiles = /^(?:merge|rebase|cherry-pick|revert|pull|fetch|push|remote|switch|branch|tag|bisect)$/;
/** Subcommands whose first word is a verb of their own. */
const hasVerb = /^(?:stash|worktree|submodule|notes|bundle|reflog|remote|bisect)$/;

/** Words of a git command that may be paths: also behind `rev:` and in values of options. */
export function gitPaths(
  invocation: Invocation,
  subcommand: string,
  words: readonly ResolvedWord[],
  report: AnalysisReport,
): void {
  const access = accessOf(subcommand, words);
  // Behind `-b` stands the name of a branch, and what it starts from.
  const makesBranch =
    subcommand === "checkout" &&
    words.some((word) => /^(?:-[a-zA-Z]*[bBtd]|--(?:orphan|track|detach)$)/.test(word.literal ?? ""));
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    const text = word?.literal ?? word?.raw ?? "";
    if (word === undefined) break;
    if (subcommand === "commit" || subcommand === "tag" || subcommand === "stash" || subcommand === "notes") {
      if (/^-[a-zA-Z]*m$|^--message$/.test(text)) {
        index += 1;
        continue;
      }
    }
    if (/^(?:--output|-o|--output-directory|--directory)$/.test(text)) {
      const value = words[++index];
      if (value !== undefined) report.path(value, "write", invocation);
      continue;
    }
    // `-L1,5:file`, also joined to its option.
    const lines = /^-L.*?:/.test(text) ? text.lastIndexOf(":") : -1;
    if (lines > 0) {
      report.path(wordTail(word, lines + 1), "read", invocation);
      continue;
    }
    if (text.startsWith("-")) {
      const equals = text.indexOf("=");
      if (equals > 0 && !/^--(?:grep|author|format|pretty|since|until|message|date)/.test(text)) {
        report.path(
          wordTail(word, equals + 1),
          /^--(?:output|directory|prefix)/.test(text) ? "write" : access,
          invocation,
        );
      }
      continue;
    }
    if (/\s/.test(word.literal ?? "")) continue;
    if (makesBranch || (index === 0 && hasVerb.test(subcommand) && /^[a-z-]+$/.test(word.literal ?? ""))) continue;
    if (namesNoFiles.test(subcommand) && /^[^.~/:]/.test(word.literal ?? "")) continue;
    report.path(word, access, invocation);
    const colon = text.indexOf(":");
    // An address is no reference with a path behind it.
    if (colon < 0 || /^(?:https?|ssh|git|ftps?):\/\//.test(text)) continue;
    report.path(wordTail(word, colon + 1), "read", invocation);
    // `:0:file` names a stage of the index; `:/file` and `:(top)file` the same file from the top.
    const inner = /^:\d:|^:\/|^:\((?!.*exclude)[^)]*\)/.exec(text)?.[0].length ?? 0;
    if (inner > 0) report.path(wordTail(word, inner), "read", invocation);
  }
}

function accessOf(subcommand: string, words: readonly ResolvedWord[]): CommandPath["access"] {
  const has = (pattern: RegExp) => words.some((word) => pattern.test(word.literal ?? ""));
  switch (subcommand) {
    // Without `--`, a word may as well be a branch.
    case "checkout":
      return has(/^--$/) ? "write" : "unknown";
    // Only the index changes.
    case "restore":
      return has(/^(?:-[a-zA-Z]*S|--staged$)/) && !has(/^(?:-[a-zA-Z]*W|--worktree$)/) ? "read" : "write";
    case "rm":
      return has(/^--cached$/) ? "read" : "delete";
  }
  return (
    gitPathAccess.get(subcommand) ??
    (/^(?:ls-files|check-ignore|status|branch|tag|push|fetch|switch)$/.test(subcommand) ? "list" : "read")
  );
}
