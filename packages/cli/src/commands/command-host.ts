import { Command } from "commander";
import type { Console } from "../terminal/console.ts";

/**
 * What every family of commands is registered with. Registering declares names, options and help; the code of a command is only
 * loaded when it runs, so that a start loads nothing else.
 */
export interface CommandHost {
  /** A command's action. */
  readonly runs: (load: () => Promise<CommandCode>) => (...given: unknown[]) => Promise<void>;
}

/**
 * Gets the arguments in their order, then the options, those before a subcommand included, then the `Console`; gives the exit code.
 * Rejects with `CliError` if it fails in an expected way.
 */
export type CommandCode = (...given: never[]) => Promise<number>;

/** @param ended takes the exit code of the command that ran */
export function commandHost(console: Console, ended: (code: number) => void): CommandHost {
  return {
    runs:
      (load) =>
      async (...given) => {
        const command = given.pop();
        if (!(command instanceof Command)) throw new TypeError("Commander gives the command last.");
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The options were declared for it.
        const run = (await load()) as (...given: unknown[]) => Promise<number>;
        ended(await run(...given.slice(0, -1), command.optsWithGlobals(), console));
      },
  };
}
