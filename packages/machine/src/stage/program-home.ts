import type { RunMount } from "./staged-command.ts";

/** What a program that a person starts finds of its own in the user's home, which is empty in a run otherwise. */
export interface ProgramHome {
  /** Real paths of directories: it reads what is there, and what it writes goes with the run. */
  readonly directories: readonly string[];
  /** Over these, or elsewhere. */
  readonly mounts: readonly RunMount[];
  /** Single files, by their real paths: it finds them with this text, and what it writes goes with the run. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Besides what every command has. */
  readonly environment: Readonly<Record<string, string>>;
}
