import type { CommandDanger } from "../../command-analysis.ts";
import { expandPath } from "./resolve-path.ts";
import type { ResolvedWord } from "./resolve-word.ts";

/** One program that would start, with everything known about its circumstances. */
export interface Invocation {
  /** Base name, e.g. `rm`. */
  readonly name: string;
  /** As the command names it, e.g. `/bin/rm`. */
  readonly program: string;
  readonly words: readonly ResolvedWord[];
  /** Wrappers around it, outermost first. */
  readonly wrappers: readonly string[];
  /** Directories it may run in. Never empty. */
  readonly directories: readonly string[];
  readonly input: CommandInput;
  /** True when further words come from the input, as under `xargs`. */
  readonly appendsInput: boolean;
}

/** Source of its standard input. */
export interface CommandInput {
  readonly type: "inherited" | "text" | "pipe" | "file";
  /** All of it, when the command itself spells it. */
  readonly text: string | undefined;
  /** Names of the programs before it in the pipeline. */
  readonly sources: readonly string[];
}

export const inheritedInput: CommandInput = { type: "inherited", text: undefined, sources: [] };

/** Fixed facts of an analysis. Absolute paths without a trailing slash. */
export interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly workspace: string;
}

/** A danger found by a rule of the floor. `askable`: see `CommandDanger`. */
export type FoundDanger = Omit<CommandDanger, "rule" | "askable"> & { readonly askable?: true };

/** One rule of the floor. Rules are data: one family per file, found by program name. */
export interface DangerRule {
  readonly rule: string;
  /** Programs it looks at; undefined for all. */
  readonly programs?: readonly string[];
  find(invocation: Invocation, place: Place): FoundDanger | undefined;
}

export interface Target {
  readonly word: ResolvedWord;
  /** One of its forms. */
  readonly form: string;
  /** That form as an absolute path, or as a glob if the word is not literal. */
  readonly absolute: string;
}

/** Every path that a word may name, for each form and each possible directory. */
export function targetsOf(word: ResolvedWord, invocation: Invocation, place: Place): readonly Target[] {
  return word.forms.flatMap((form) =>
    invocation.directories.map((directory) => ({ word, form, absolute: expandPath(form, directory, place.home) })),
  );
}

/** Base name of a program as it is written; on Windows also without `.exe`. */
export function programName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
