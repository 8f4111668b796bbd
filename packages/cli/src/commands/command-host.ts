import type { Console } from "../terminal/console.ts";

/**
 * What the program gives every family of commands to register itself with. Registering declares names, options and help; the
 * code of a command is imported when it runs, so that no start pays for what it does not use.
 */
export interface CommandHost {
  readonly console: Console;
  /** Takes the exit code of the command that ran. */
  readonly ended: (code: number) => void;
}
