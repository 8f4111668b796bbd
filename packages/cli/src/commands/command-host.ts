import type { Console } from "../terminal/console.ts";

/**
 * What every family of commands is registered with. Registering declares names, options and help; the code of a command is only
 * imported when it runs, so that a start loads nothing else. It rejects with `CliError` if it fails in an expected way.
 */
export interface CommandHost {
  readonly console: Console;
  /** Takes the exit code of the command that ran. */
  readonly ended: (code: number) => void;
}
