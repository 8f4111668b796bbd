import type { Risk } from "@gennai/protocol/model/governance/risk";

/** What is known of a shell command from its syntax tree. Only types; created in `analyse-command.ts`. */
export interface CommandAnalysis {
  /** The command exactly as it would run. */
  readonly text: string;
  /** Every simple command in it, wrappers (`env`, `sudo`, `xargs`, `bash -c` …) unwrapped, in order. */
  readonly commands: readonly SimpleCommand[];
  /** Paths the command names, resolved against the working directory at that place. */
  readonly paths: readonly CommandPath[];
  /** True only when all of it is of the small closed grammar: nothing is written, deleted, started or sent then. */
  readonly readsOnly: boolean;
  readonly risk: Risk;
  /** Why a person must look: what could not be resolved, e.g. `a variable in command position`. Empty when all is known. */
  readonly unresolved: readonly string[];
  /** Dangers found by the floor, strictest first. */
  readonly dangers: readonly CommandDanger[];
  /** Git commands in it that may print what files hold without naming them. */
  readonly contents: readonly GitContents[];
}

/** A git command that may print contents of files, and how git itself can be asked which files those are. */
export interface GitContents {
  /** E.g. `diff`. */
  readonly subcommand: string;
  /** Absolute directory it runs in; undefined when there may be several. */
  readonly directory: string | undefined;
  /**
   * Arguments of a git command that lists the names, NUL-terminated: it only reads, and starts no program. `unknown` if no such
   * command certainly lists all; undefined if only `objects` are printed.
   */
  readonly names: readonly string[] | "unknown" | undefined;
  /** Words that may name an object that is printed as it is. */
  readonly objects: readonly string[];
  /** Set when it also reads files that git does not track. */
  readonly beyondIndex?: boolean;
}

export interface SimpleCommand {
  /** Base name of the program, e.g. `rm`. */
  readonly name: string;
  /** Literal words after the name; undefined where a word is not literal. */
  readonly words: readonly (string | undefined)[];
  /** Wrappers it was found in, outermost first. */
  readonly wrappers: readonly string[];
}

export interface CommandPath {
  readonly raw: string;
  /** Absolute, `..` removed; symbolic links are not resolved here. */
  readonly absolute: string;
  /** `list` sees the name and what is known of it, never the content; `unknown` may be anything. */
  readonly access: "list" | "read" | "write" | "delete" | "unknown";
  /** Set if `absolute` is a glob: the shell, or a variable, decides which paths it names. */
  readonly pattern?: true;
  /** Set if no content is changed: e.g. creating a directory, setting permissions, deleting build results. */
  readonly keepsContent?: true;
}

export interface CommandDanger {
  /** Name of the rule, e.g. `floor/recursive-delete`. */
  readonly rule: string;
  readonly verdict: "ask" | "deny";
  readonly reason: string;
  /** Set when the command is privileged, leaves the machine or destroys. */
  readonly high?: true;
  /** Set if a stage holds what it would do: there, the effects are judged instead. */
  readonly held?: true;
  /** Set on a refusal that a rule with `ask: true` about this very command turns into a question: only work is lost. */
  readonly askable?: SimpleCommand;
}
