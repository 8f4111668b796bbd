import { maskedDocuments, oneCommand } from "./one-command.ts";
import { pushCommandOf } from "./push-command.ts";

/** Commands joined by `&&`, of which the last ones push, each simple enough to be a separate call. */
export interface KeyChain {
  /** The shell command before them; undefined if there is none. */
  readonly first: string | undefined;
  /** At least one; at least two if nothing comes before them. */
  readonly keys: readonly string[];
  /** Where a `cd` at the beginning of `first` leads, as written; undefined: no `cd`. */
  readonly directory: string | undefined;
}

/**
 * `git add -A && git commit -m x && git push`, taken apart. Undefined for anything else: other joints, signs of the shell,
 * something behind a push, and parts that say something to the shell itself, which the next one would no longer hear.
 * @param text for the shell
 */
export function keyChain(text: string): KeyChain | undefined {
  const parts = joinedCommands(text);
  const at = parts.findIndex((part) => pushCommandOf(part) !== undefined);
  if (at < 0 || parts.length < 2) return undefined;
  const [before, keys] = [parts.slice(0, at), parts.slice(at)];
  if (keys.some((part) => pushCommandOf(part) === undefined)) return undefined;
  if (before.length === 0) return { first: undefined, keys, directory: undefined };
  const [beginning, ...others] = before.map((part) => oneCommand(part));
  if (beginning === undefined) return undefined;
  const directory = ledTo(beginning);
  for (const words of directory === undefined ? [beginning, ...others] : others) {
    if (words === undefined || !isProgram(words[0])) return undefined;
  }
  return { first: before.join(" && "), keys, directory };
}

/** The parts between the `&&`s; empty if they are, or could be, joined by anything else. @param whole for the shell */
export function joinedCommands(whole: string): readonly string[] {
  const text = whole.trim();
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

/** A program that ends before the next begins, and leaves no state in the shell. */
function isProgram(name: string): boolean {
  return /^[\w./-]+$/.test(name) && !ofShell.has(name);
}

/** Bash built-ins, except those that only print or test. */
const ofShell: ReadonlySet<string> = new Set(
  (
    ". alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown enable eval " +
    "exec exit export fc fg function getopts hash help history jobs kill let local logout mapfile popd pushd read readarray " +
    "readonly return set shift shopt source suspend times trap typeset ulimit umask unalias unset wait " +
    "case do done elif else esac fi for if in select then time until while"
  ).split(" "),
);
