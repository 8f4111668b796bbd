import type { SimpleCommand } from "../command/command-analysis.ts";
import { programNamed, verbOf } from "../programs/known-programs.ts";
import type { Program } from "../programs/program.ts";
import { type GhCommand, ghCommand } from "./gh-command.ts";
import { oneCommand } from "./one-command.ts";
import { type PublishCommand, publishCommand } from "./publish-command.ts";
import { type PushCommand, pushCommand } from "./push-command.ts";

/** A command that cannot work without a user's login, written so simply that all its effects are known. */
export type KeyCommand = PushCommand | PublishCommand | GhCommand;

/** Undefined for any other command, and for one that is part of a larger command. @param text for the shell */
export function keyCommand(text: string): KeyCommand | undefined {
  const words = oneCommand(text);
  if (words === undefined) return undefined;
  const [program, ...rest] = words;
  return kindOf(program)?.read(rest, program);
}

/** The part of a command that needs a user's login, and how it is written; undefined if there is none. */
export function namedKey(
  commands: readonly NamedCommand[],
): { readonly what: string; readonly form: string } | undefined {
  for (const command of commands) {
    const kind = kindOf(command.name);
    const { form = "" } = kind ?? {};
    const what = kind?.named(command);
    if (what !== undefined) return { what, form };
  }
  return undefined;
}

type NamedCommand = Pick<SimpleCommand, "name" | "words">;

interface Kind {
  read(words: readonly string[], program: string): KeyCommand | undefined;
  named(command: NamedCommand): string | undefined;
  readonly form: string;
}

const kinds: Readonly<Record<NonNullable<Program["key"]>, Kind>> = {
  push: {
    read: (words) => pushCommand(words),
    named: ({ words }) => (gitVerb(words) === "push" && !words.some(isDirectory) ? "git push" : undefined),
    form: "git push [OPTIONS] [REMOTE] [BRANCH ...]",
  },
  publish: {
    read: (words, program) => publishCommand(words, program === "pnpm" ? "pnpm" : "npm"),
    named: ({ name, words }) => (publishing(words) ? `${name} publish` : undefined),
    form: "npm publish [--access ACCESS] [--tag TAG] [DIRECTORY]",
  },
  gh: {
    read: (words) => ghCommand(words),
    named: ({ name, words: [group = ""] }) =>
      verbOf(name, [group])?.verb.login === true ? `${name} ${group}` : undefined,
    form: "gh GROUP VERB ...",
  },
};

function kindOf(name: string): Kind | undefined {
  const key = programNamed(name)?.key;
  return key && kinds[key];
}

function gitVerb(words: SimpleCommand["words"]): string | undefined {
  let at = 0;
  while (words[at]?.startsWith("-") === true) at += words[at] === "-C" || words[at] === "-c" ? 2 : 1;
  return words[at];
}

/** A repository in a directory needs no login. */
function isDirectory(word: string | undefined): boolean {
  return word !== undefined && /^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(word);
}

/** If options come first, their values come before the verb. */
function publishing(words: SimpleCommand["words"]): boolean {
  return words[0] === "publish" || (words[0]?.startsWith("-") === true && words.includes("publish"));
}
