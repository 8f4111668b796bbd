import type { CommandPath } from "../command-analysis.ts";
import type { AnalysisReport } from "./analysis-report.ts";
import { gitParts } from "./dangers/git-dangers.ts";
import { printingOptions } from "./words/git-options.ts";
import type { Invocation, Place } from "./words/invocation.ts";
import { parseOptions } from "./words/option-spec.ts";
import { expandPath } from "./words/resolve-path.ts";
import { type ResolvedWord, wordTail } from "./words/resolve-word.ts";

/** Subcommands whose words name branches, commits and remotes; a remote may be a path, which shows by how it begins. */
const namesNoFiles = /^(?:merge|rebase|cherry-pick|revert|pull|fetch|push|remote|switch|branch|tag|bisect)$/;
/** Subcommands whose first word is a verb of their own. */
const hasVerb = /^(?:stash|worktree|submodule|notes|bundle|reflog|remote|bisect)$/;
const hasMessage = /^(?:commit|tag|stash|notes)$/;
/** Subcommands whose `-o` names no file: others, only, an option for the server, the name of a remote. */
const hasOtherO = /^(?:ls-files|grep|commit|push|fetch|pull|clone|ls-remote)$/;

/** Words of a git command that may be paths: also behind `rev:` and in values of options. */
export function gitPaths(outer: Invocation, report: AnalysisReport, place: Place): void {
  const parts = gitParts(outer);
  let { directories } = outer;
  for (const { option, word } of parts.values) {
    if (option === "-C" && word.literal !== undefined) {
      const to = word.literal;
      directories = directories.map((directory) => expandPath(to, directory, place.home));
      report.path(word, "list", outer);
    } else if (option === "--git-dir" || option === "--work-tree") report.path(word, "unknown", outer);
  }
  const invocation = { ...outer, directories };
  const { subcommand } = parts;
  const words = withoutPattern(subcommand, parts.words);
  const access = accessOf(subcommand, words);
  // After `-b` come the branch name and the start point.
  const makesBranch = subcommand === "checkout" && has(words, /^(?:-[a-zA-Z]*[bBtd]|--(?:orphan|track|detach)$)/);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const text = word.literal ?? word.raw;
    if (hasMessage.test(subcommand) && /^-[a-zA-Z]*m$|^--message$/.test(text)) index += 1;
    else if (text === "-o" && hasOtherO.test(subcommand)) continue;
    else if (/^(?:--output|-o|--output-directory|--directory)$/.test(text)) {
      const value = words[++index];
      if (value !== undefined) report.path(value, "write", invocation);
    } else if (/^-L.*?:/.test(text)) report.path(wordTail(word, text.lastIndexOf(":") + 1), "read", invocation);
    else if (text.startsWith("-")) {
      const equals = text.indexOf("=");
      if (equals < 0 || /^--(?:grep|author|format|pretty|since|until|message|date)/.test(text)) continue;
      const writes = /^--(?:output|directory|prefix)/.test(text);
      report.path(wordTail(word, equals + 1), writes ? "write" : access, invocation);
    } else if (/\s/.test(word.literal ?? "") || makesBranch) continue;
    else if (index === 0 && hasVerb.test(subcommand) && /^[a-z-]+$/.test(word.literal ?? "")) continue;
    else if (namesNoFiles.test(subcommand) && /^[^.~/:]/.test(word.literal ?? "")) continue;
    else if (!/^:(?:[!^]|\([^)]*exclude)/.test(text)) {
      report.path(word, access, invocation);
      const colon = text.indexOf(":");
      // An address is not a reference with a path behind it.
      if (colon < 0 || /^(?:https?|ssh|git|ftps?):\/\//.test(text)) continue;
      report.path(wordTail(word, colon + 1), "read", invocation);
      // `:0:file` names a stage of the index; `:/file` and `:(top)file` the same file from the top.
      const inner = /^:\d:|^:\/|^:\([^)]*\)/.exec(text)?.[0].length ?? 0;
      if (inner > 0) report.path(wordTail(word, inner), "read", invocation);
    }
  }
}

/** Without a search pattern, which is no file. */
function withoutPattern(subcommand: string, words: readonly ResolvedWord[]): readonly ResolvedWord[] {
  const options = subcommand === "grep" ? printingOptions.get(subcommand) : undefined;
  if (options === undefined) return words;
  const { operands, values } = parseOptions(words, options);
  const isGiven = values.some(({ kind }) => kind === "pattern" || kind === "path");
  const files = values.flatMap(({ kind, word }) => (kind === "path" ? [word] : []));
  return [...files, ...operands.slice(isGiven ? 0 : 1)];
}

const has = (words: readonly ResolvedWord[], pattern: RegExp) =>
  words.some(({ literal }) => pattern.test(literal ?? ""));

function accessOf(subcommand: string, words: readonly ResolvedWord[]): CommandPath["access"] {
  switch (subcommand) {
    // Without `--`, a word may as well be a branch.
    case "checkout":
      return has(words, /^--$/) ? "write" : "unknown";
    // Only the index changes.
    case "restore":
      return has(words, /^(?:-[a-zA-Z]*S|--staged$)/) && !has(words, /^(?:-[a-zA-Z]*W|--worktree$)/) ? "read" : "write";
    case "rm":
      return has(words, /^--cached$/) ? "read" : "delete";
    case "mv":
    case "clean":
      return "delete";
    case "apply":
      return "unknown";
    default:
      return /^(?:ls-files|check-ignore|status|branch|tag|push|fetch|switch)$/.test(subcommand) ? "list" : "read";
  }
}
