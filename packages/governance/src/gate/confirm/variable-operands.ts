import { parseOptions } from "../../command/words/option-spec.ts";
import { literalWord } from "../../command/words/resolve-word.ts";
import { programFiles } from "../../programs/known-programs.ts";

/** What may replace an operand when a yes is remembered for a pattern. */
export type OperandClass =
  /** Files of one directory, not below it, with one ending (`.ts`, or none). */
  | { readonly type: "files"; readonly directory: string; readonly extension: string }
  /** A name below the same prefix, e.g. of a branch: `topic/`. */
  | { readonly type: "name"; readonly prefix: string }
  /** Any plain text, e.g. of a commit's message. */
  | { readonly type: "text" };

export type PatternWord = { readonly exactly: string } | { readonly any: OperandClass };

interface VaryingCommand {
  readonly kind: "files" | "name";
  /** The program takes whole directories: then only a name with an extension counts as a file. */
  readonly descends: boolean;
  /** Allowed options, all without a value: a word after any other option may be anything. */
  readonly options: (option: string) => boolean;
}

/**
 * Commands whose operands may vary under a pattern. None of these programs runs what its operands name, so that another
 * operand of the same class means the same kind of action; none writes through a link either. Options are always exact.
 */
const varying: ReadonlyMap<string, VaryingCommand> = new Map([
  ...["rm", "rmdir", "mkdir", "touch", "mv"].map((program): [string, VaryingCommand] => [
    program,
    {
      kind: "files",
      // The others stop at a directory that is not empty, or make one; a recursive delete is never answered for a pattern.
      descends: program === "mv",
      options: (option) => isOfFlags(program, option),
    },
  ]),
  ...["git add", "git mv", "prettier", "eslint", "oxlint", "biome check", "biome format", "biome lint"].map(
    (command): [string, VaryingCommand] => [
      command,
      { kind: "files", descends: true, options: (option) => formatting.has(option) },
    ],
  ),
  ["git rm", { kind: "files", descends: false, options: (option) => option === "--cached" }],
  ...["switch -c", "checkout -b", "branch", "tag"].map((verb): [string, VaryingCommand] => [
    `git ${verb}`,
    { kind: "name", descends: false, options: () => false },
  ]),
]);

const formatting: ReadonlySet<string> = new Set(["--write", "--check", "--fix"]);

/** The command with operands that may vary; undefined where none may, or the words are not known. */
export function patternWords(words: readonly string[]): readonly PatternWord[] | undefined {
  const commit = commitMessage(words);
  if (commit !== undefined) return commit;
  for (const length of [3, 2, 1]) {
    const command = varying.get(words.slice(0, length).join(" "));
    if (command === undefined) continue;
    const pattern: PatternWord[] = words.slice(0, length).map((word) => ({ exactly: word }));
    for (const word of words.slice(length)) {
      if (word.startsWith("-")) {
        if (!command.options(word)) return undefined;
        pattern.push({ exactly: word });
        continue;
      }
      const any = classOf(word, command.kind);
      // An operand that belongs to no class could be anything: then only the exact action is offered.
      if (any === undefined || (command.descends && any.type === "files" && any.extension === "")) return undefined;
      pattern.push({ any });
    }
    return pattern.some((word) => "any" in word) ? pattern : undefined;
  }
  return undefined;
}

export function matchesWords(pattern: readonly PatternWord[], words: readonly string[]): boolean {
  return (
    pattern.length === words.length &&
    pattern.every((expected, index) => {
      const word = words[index] ?? "";
      return "exactly" in expected ? word === expected.exactly : isOfClass(word, expected.any);
    })
  );
}

export function describeClass(any: OperandClass): string {
  switch (any.type) {
    case "files":
      return `${any.directory === "" ? "" : `${any.directory}/`}*${any.extension}`;
    case "name":
      return `${any.prefix}*`;
    case "text":
      return "*";
  }
}

/** The class of a plain path relative to the workspace; undefined for any that is absolute, hidden, or leads upwards. */
export function fileClass(path: string): (OperandClass & { readonly type: "files" }) | undefined {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  if (parts.some((part) => !plainName.test(part)) || !plainName.test(name)) return undefined;
  const dot = name.lastIndexOf(".");
  return { type: "files", directory: parts.join("/"), extension: dot < 0 ? "" : name.slice(dot) };
}

/** No hidden file, no option, no `..`. */
const plainName = /^[A-Za-z0-9_@][A-Za-z0-9_@+.-]*$/;

function classOf(word: string, kind: VaryingCommand["kind"]): OperandClass | undefined {
  if (kind === "files") return fileClass(word);
  return isName(word) ? { type: "name", prefix: word.slice(0, word.lastIndexOf("/") + 1) } : undefined;
}

function isOfClass(word: string, expected: OperandClass): boolean {
  switch (expected.type) {
    case "files": {
      const found = fileClass(word);
      return found?.directory === expected.directory && found.extension === expected.extension;
    }
    case "name":
      return isName(word) && word.slice(0, word.lastIndexOf("/") + 1) === expected.prefix;
    case "text":
      return !word.startsWith("-");
  }
}

function isName(word: string): boolean {
  return word.length <= 100 && word.split("/").every((part) => plainName.test(part));
}

function commitMessage(words: readonly string[]): readonly PatternWord[] | undefined {
  const [git, commit, option, message, ...more] = words;
  if (git !== "git" || commit !== "commit" || (option !== "-m" && option !== "-am") || more.length > 0)
    return undefined;
  if (message === undefined || message.startsWith("-")) return undefined;
  return [{ exactly: git }, { exactly: commit }, { exactly: option }, { any: { type: "text" } }];
}

/** Whether a word is a cluster of options without values, for a program with a row. */
function isOfFlags(program: string, word: string): boolean {
  const { unknown, values } = parseOptions([literalWord(word)], programFiles(program)?.options ?? "");
  return unknown === undefined && values.length === 0;
}
