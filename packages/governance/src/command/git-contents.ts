import type { GitContents } from "../command-analysis.ts";
import { gitParts } from "./dangers/git-dangers.ts";
import { plainGlobalOptions, printingOptions } from "./words/git-options.ts";
import type { Invocation } from "./words/invocation.ts";
import { type ParsedOptions, parseOptions } from "./words/option-spec.ts";
import type { ResolvedWord } from "./words/resolve-word.ts";

/**
 * What a git command may print of files that it does not name: changes of a whole tree, matching lines, an object by its
 * digest. Undefined if it prints none. Named files are judged as for any command.
 */
export function gitContents(invocation: Invocation): GitContents | undefined {
  const parts = gitParts(invocation);
  const { subcommand } = parts;
  const whole =
    alwaysPrints.has(subcommand) ||
    mayPrint.some(([names, option]) => names.test(subcommand) && has(parts.words, option));
  const options = printingOptions.get(subcommand);
  if (options === undefined || (whole && !reducible.has(subcommand))) {
    return whole ? unknownContents(invocation, subcommand) : undefined;
  }
  const parsed = parseOptions(parts.words, options);
  // An option that is not known may make it print.
  if (!prints(subcommand, parsed) && (parsed.unknown === undefined || !reducible.has(subcommand))) return undefined;
  const global = parseOptions(invocation.words, plainGlobalOptions, { stopAtOperand: true });
  const words = parts.words.map(({ literal }) => literal);
  const isCertain =
    parsed.unknown === undefined &&
    global.unknown === undefined &&
    !invocation.appendsInput &&
    invocation.directories.length === 1 &&
    words.every((word) => word !== undefined);
  const query = isCertain ? namesQuery(subcommand, words, parsed) : undefined;
  if (query === undefined) return unknownContents(invocation, subcommand);
  return { ...query, subcommand, directory: invocation.directories[0] };
}

/** Subcommands that hand out contents, and of which no form says which files those are. */
const alwaysPrints: ReadonlySet<string> = new Set(
  "range-diff archive fast-export format-patch bundle difftool merge-tree unpack-file cat-file".split(" "),
);

/** Options with which others print changes. */
const mayPrint: readonly (readonly [subcommand: RegExp, option: RegExp])[] = [
  [/^add$/, /^(?:-[a-zA-Z]*[pie]|--patch|--interactive|--edit)/],
  [/^commit$/, /^(?:-[a-zA-Z]*[vp]|--verb|--patch)/],
  [/^(?:checkout|reset|restore|stash)$/, /^(?:-[a-zA-Z]*p|--patch)/],
  [/^(?:rebase|am)$/, /^--show-current/],
  [/^request-pull$/, /^-p/],
];

/** Subcommands that git itself can be asked about: which files would this print? */
const reducible: ReadonlySet<string> = new Set(
  "diff log show whatchanged diff-tree diff-index diff-files stash reflog grep status cat-file".split(" "),
);

const patches = ["-p", "-u", "--patch", "-U", "--unified", "-c", "-m", "-W", "--function-context", "--word-diff"];
const morePatches = ["--check", "--submodule", "-L"];
/** What is shown instead of changes. */
const summaries =
  "--stat --shortstat --numstat --dirstat --summary --raw --name-only --name-status --no-patch -s --quiet --compact-summary";
const summaryOptions: readonly string[] = summaries.split(" ");
const onlyNames = "-l -L -c -q --files-with-matches --name-only --count".split(" ");

function prints(subcommand: string, { flags, operands }: ParsedOptions): boolean {
  const any = (options: readonly string[]): boolean => options.some((option) => flags.has(option));
  const patch = any(patches) || any(morePatches);
  const byDefault = patch || !any(summaryOptions);
  switch (subcommand) {
    case "diff":
    case "show":
      return byDefault;
    // Settings may say that it shows changes.
    case "stash":
      return operands[0]?.literal === "show" ? byDefault : patch;
    case "log":
    case "whatchanged":
    case "reflog":
    case "diff-tree":
    case "diff-index":
    case "diff-files":
      return patch;
    case "grep":
      return !any(onlyNames);
    case "status":
      return any(["-v", "--verbose"]);
    case "cat-file":
      return !any(["-t", "-s", "-e"]);
    default:
      return false;
  }
}

type NamesQuery = Pick<GitContents, "names" | "objects" | "beyondIndex">;

const names: readonly string[] = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];

/** The same command, listing names instead of contents; undefined if there is none. */
function namesQuery(subcommand: string, words: readonly string[], parsed: ParsedOptions): NamesQuery | undefined {
  // Options that show and hide can be combined, and git's versions differ in which wins.
  if (parsed.flags.has("-s") || parsed.flags.has("--no-patch")) return undefined;
  // git's versions differ in which options take the next word, so a word that looks like an option may be one.
  if (parsed.values.some(({ word }) => word.literal?.startsWith("-"))) return undefined;
  // A file that is found again under another name would be named by that alone.
  if (subcommand !== "grep" && words.some((word) => /^-[a-zA-FH-RT-Z]+[MCB]/.test(word))) return undefined;
  // Lines of one named file.
  if (parsed.flags.has("-L") && subcommand !== "grep") return { names: undefined, objects: [] };
  const operands = parsed.operands.flatMap(({ literal }) => literal ?? []);
  const separator = words.indexOf("--");
  const before = separator < 0 ? operands : operands.slice(0, operands.length - (words.length - separator - 1));
  const rest = withoutFormat(words);
  const beyondIndex = words.some((word) => beyond.test(word));
  const withHeads = [...names, "--format="];
  switch (subcommand) {
    case "diff":
      return { names: ["diff", ...names, ...rest], objects: before, beyondIndex };
    case "diff-index":
    case "diff-files":
      return { names: [subcommand, ...names, ...rest], objects: [] };
    case "diff-tree":
      return { names: ["diff-tree", "-r", "--root", "--no-commit-id", ...names, ...rest], objects: before };
    case "log":
    case "whatchanged":
      return { names: ["log", ...withHeads, ...rest], objects: [] };
    case "show":
      return { names: ["show", ...withHeads, ...rest], objects: before };
    case "reflog":
    case "stash": {
      const [first = "show"] = before;
      const found = rest.indexOf(first);
      const others = found < 0 ? rest : rest.toSpliced(found, 1);
      const form = first === "show" && subcommand === "stash" ? names : withHeads;
      return { names: [subcommand, before.length === 0 ? "show" : first, ...form, ...others], objects: [] };
    }
    case "grep":
      return { names: ["grep", "--name-only", "-z", ...words], objects: [], beyondIndex };
    case "status":
      return { names: ["diff", "HEAD", ...names], objects: [] };
    case "cat-file":
      return { names: undefined, objects: operands };
    default:
      return undefined;
  }
}

/** Options of how a commit or a change is shown: beside names they would only be in the way. */
const format =
  /^(?:--(?:oneline|graph|pretty|format|color|no-color|word-diff|check|notes|no-notes|show-signature|decorate|no-decorate|name-only|name-status|submodule|exit-code|find-renames|find-copies|find-copies-harder)(?:=|$)|-z$|-[MCB](?:\d+%?)?$)/;

function withoutFormat(words: readonly string[]): readonly string[] {
  const separator = words.indexOf("--");
  const end = separator < 0 ? words.length : separator;
  return words.filter((word, index) => index >= end || !format.test(word));
}

function unknownContents({ directories, words }: Invocation, subcommand: string): GitContents {
  const beyondIndex = words.some(({ literal, raw }) => beyond.test(literal ?? raw));
  const directory = directories.length === 1 ? directories[0] : undefined;
  return { subcommand, directory, names: "unknown", objects: [], ...(beyondIndex ? { beyondIndex } : {}) };
}

/** Options that also take in files that git does not track. */
const beyond = /^--(?:no-index|untracked)$/;

function has(words: readonly ResolvedWord[], option: RegExp): boolean {
  return words.some(({ literal, raw }) => option.test(literal ?? raw));
}
