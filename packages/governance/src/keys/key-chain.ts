import { programName } from "../command/words/invocation.ts";
import { keyCommand, namedKey } from "./key-command.ts";
import { maskedDocuments, oneCommand } from "./one-command.ts";

/** Commands joined by `&&`, of which the last ones need a login of the user's, each written so plainly that it can be one of its own. */
export interface KeyChain {
  /** For the shell: what stands before them; undefined where nothing does. */
  readonly first: string | undefined;
  /** At least one; where nothing stands before them, more. */
  readonly keys: readonly string[];
  /** Where `first` leads by a `cd` that it begins with, as it is written there; undefined: nowhere else. */
  readonly directory: string | undefined;
}

/**
 * `git add -A && git commit -m x && git push && gh pr create`, taken apart. Undefined for anything else: other joints, signs of the shell, something
 * behind a command that needs a login, and parts that say something to the shell itself, which the next one would no longer hear.
 * @param text for the shell
 */
export function keyChain(text: string): KeyChain | undefined {
  const parts = joinedParts(text.trim());
  const at = parts.findIndex((part) => keyCommand(part) !== undefined);
  if (at < 0 || parts.length < 2) return undefined;
  const [before, keys] = [parts.slice(0, at), parts.slice(at)];
  if (keys.some((part) => keyCommand(part) === undefined)) return undefined;
  if (before.length === 0) return { first: undefined, keys, directory: undefined };
  const [beginning, ...others] = before.map((part) => oneCommand(part));
  if (beginning === undefined) return undefined;
  const directory = ledTo(beginning);
  for (const words of directory === undefined ? [beginning, ...others] : others) {
    if (words === undefined || !isProgram(words[0])) return undefined;
    const [program, ...rest] = words;
    // What needs a login in a way in which none is given.
    if (namedKey([{ name: programName(program), words: rest }]) !== undefined) return undefined;
  }
  return { first: before.join(" && "), keys, directory };
}

/** What stands between the `&&`s; empty where anything else joins, or could. */
function joinedParts(text: string): readonly string[] {
  const masked = maskedDocuments(text).replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, (quoted) => "x".repeat(quoted.length));
  if (/[^\w@%+=:,./^ \p{L}\p{M}~-]/u.test(masked.replaceAll(/&&|2>&1/g, "   "))) return [];
  const parts: string[] = [];
  let from = 0;
  for (const { index } of masked.matchAll(/&&/g)) {
    parts.push(text.slice(from, index).trim());
    from = index + 2;
  }
  return [...parts, text.slice(from).trim()];
}

/** Only straight on: the shell and the file system read `..` behind a link in different ways. */
function ledTo([program, directory = "", ...more]: readonly string[]): string | undefined {
  if (program !== "cd" || more.length > 0 || !/^[\w./][\w./-]*$/.test(directory)) return undefined;
  return directory.split("/").includes("..") ? undefined : directory;
}

/** One that ends before the next begins, and leaves nothing behind in the shell. */
function isProgram(name: string): boolean {
  return /^[\w./-]+$/.test(name) && !ofShell.has(name);
}

/** What bash does itself, but for what only prints or tests. */
const ofShell: ReadonlySet<string> = new Set(
  (
    ". alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown enable eval " +
    "exec exit export fc fg function getopts hash help history jobs kill let local logout mapfile popd pushd read readarray " +
    "readonly return set shift shopt source suspend times trap typeset ulimit umask unalias unset wait " +
    "case do done elif else esac fi for if in select then time until while"
  ).split(" "),
);
