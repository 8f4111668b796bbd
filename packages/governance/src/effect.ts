import type { CommandAnalysis } from "./command-analysis.ts";
import type { AllowedEndpoint } from "./connection.ts";

/** A path after resolution: no `..`, no symbolic link left in it. Policies match on it, execution walks it. */
export interface WorkspacePath {
  /** As the model wrote it. */
  readonly raw: string;
  /** Real path relative to the workspace root, with `/`; empty for the root itself, and for paths outside. */
  readonly relative: string;
  /** Real absolute path. */
  readonly absolute: string;
  /** False if the real path is outside the workspace. */
  readonly inside: boolean;
}

/** What a session last saw of a file. A buffer and the disk are distinct bases. */
export interface FileBase {
  readonly source: "disk" | "buffer";
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
}

/** One effect of a call. A tool returns its effects once; policies see only them, and execution uses them. */
export type Effect =
  /** Content is read. */
  | { readonly type: "read"; readonly path: WorkspacePath }
  /** Names are read, no content. `glob` narrows what is reached. */
  | { readonly type: "list"; readonly path: WorkspacePath; readonly glob?: string }
  /** Content below a directory is read: every file that the glob may match. */
  | { readonly type: "search"; readonly path: WorkspacePath; readonly glob?: string }
  | FileWrite
  /** A change is shown to the user and nothing is written. */
  | {
      readonly type: "propose";
      readonly path: WorkspacePath;
      readonly operation: "create" | "update" | "delete";
      /** The text that would be written; absent for a delete. */
      readonly content?: string;
    }
  | {
      readonly type: "exec";
      readonly command: CommandAnalysis;
      readonly cwd: WorkspacePath;
      /** Captured by the server, or typed into the user's terminal. */
      readonly where: "server" | "client";
      /** It runs on a copy: its changes are found and judged before any is kept. */
      readonly staged?: boolean;
      /** The last parts of `command`, which need the user's ssh keys: each becomes a separate call once the rest has succeeded. */
      readonly behind?: readonly string[];
    }
  | GitChange
  | NetworkAccess
  | ExternalCall
  /** Only the session's own state changes, e.g. its todos. */
  | { readonly type: "session" };

/** Something outside of this machine, or of a command's own network, is reached. */
export interface NetworkAccess {
  readonly type: "net";
  /** For people: a URL, or a host and a port. */
  readonly url: string;
  /** The user wrote down that this host may be reached. */
  readonly listed?: boolean;
  /** The user's login that is used there for this one time, in words. */
  readonly login?: string;
  /** A staged command was refused it, and would be run again with a way there. `program`: with its verb. */
  readonly wanted?: AllowedEndpoint & { readonly program: string };
}

/** A call of an external tool. Its effects are unknown; known are only its arguments and what the user said about the tool. */
export interface ExternalCall {
  readonly type: "external";
  readonly server: string;
  readonly tool: string;
  /** SHA-256 of the tool's name, description and schema. */
  readonly definition: string;
  /** The definition compared with the one the user accepted. */
  readonly accepted: "yes" | "new" | "changed";
  /** With `changed`: the definition is as accepted, but of another server: it runs or is reached differently now. */
  readonly byOtherServer?: true;
  /** The user lets it run without a question while its definition stays as accepted. */
  readonly trusted: boolean;
  /** By the user's word it changes nothing; the tool's own claim does not count. */
  readonly readsOnly: boolean;
  /** Paths named in its arguments. */
  readonly paths: readonly WorkspacePath[];
}

export interface FileWrite {
  readonly type: "write";
  readonly operation: "create" | "update" | "delete";
  readonly path: WorkspacePath;
  /** What this session last read or wrote of the file; undefined if nothing. */
  readonly base: FileBase | undefined;
  /** SHA-256 of what is there now; undefined when there is no file. */
  readonly current: string | undefined;
  /** The text that would be written, when the tool knows it; for policies that look at content. */
  readonly content?: string;
  /** Set if a staged command has made this change, which is not visible yet. */
  readonly found?: FoundWrite;
}

/** Details of a path that a staged command changed. */
export interface FoundWrite {
  /** Covered by the command's known purpose: the files it names, or what an install or git's own verbs change. */
  readonly agreed: boolean;
  /** Git tracked it before the command. */
  readonly tracked: boolean;
  /** Git's rules before the command leave it out. */
  readonly ignored: boolean;
  readonly traits: readonly FoundTrait[];
  /** Bytes that the user never committed would be gone from the tree: the file is gone, or as git knew it. */
  readonly thrownAway?: boolean;
  /** What was there before will be nowhere: it cannot be read, is no file, or all of it is more than undo can keep. */
  readonly lost?: boolean;
}

export type FoundTrait =
  /** Control characters in its name, or such that change the direction of text. */
  | "odd-name"
  /** Another name in the directory differs only by case. */
  | "case-clash"
  /** A program that runs with its owner's rights. */
  | "set-id"
  /** A link that leads out of the workspace. */
  | "leads-outside"
  /** Git's status will not show the change: an index entry, a rule, or its place hides it. */
  | "not-shown"
  /** A merge with what its user saved while the command ran: what both began with is not known for certain. */
  | "merged"
  /** A database in use by another program: its journal file exists. */
  | "open-database"
  /** Files that tools obey lead to it: a link of such a name, or git's configuration. */
  | "control-target"
  /** Its content in git's index differs from the working tree, so a commit would contain unseen bytes. */
  | "only-in-index"
  /** A repository within the repository. */
  | "nested-repository";

/** A staged command's change of a repository, in git's terms; not visible yet. */
export interface GitChange {
  readonly type: "git";
  /** `operation`: git would be in the middle of it. `unreadable`: nothing is known of it. */
  readonly what: "ref" | "head" | "reflog" | "control" | "operation" | "unreadable";
  /** The ref, whole; for `control`, `operation` and `unreadable` a path in git's directory. For HEAD, the branch it was on, if any. */
  readonly name: string;
  /** Object id, or for HEAD `ref: …`; undefined if there is none. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Covered by the command's known purpose. */
  readonly agreed: boolean;
}

/** Real paths that an effect names; those of a command are lexical, and stand in the command. */
export function pathsOf(effect: Effect): readonly WorkspacePath[] {
  switch (effect.type) {
    case "read":
    case "list":
    case "search":
    case "write":
    case "propose":
      return [effect.path];
    case "external":
      return effect.paths;
    case "exec":
    case "git":
    case "net":
    case "session":
      return [];
  }
}

/** True when nothing outside the session changes by this effect. */
export function isReadOnly(effect: Effect): boolean {
  switch (effect.type) {
    case "read":
    case "list":
    case "search":
    case "propose":
    case "session":
      return true;
    case "exec":
      return effect.command.readsOnly;
    case "write":
    case "git":
    case "net":
    case "external":
      return false;
  }
}

/** True when a program will run that may change anything, and whose changes are not staged. */
export function runsSomething(effect: Effect): boolean {
  if (effect.type === "exec") return !effect.command.readsOnly && effect.staged !== true;
  return effect.type === "external" && !effect.readsOnly;
}
