import { Command } from "commander";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { jsonLine } from "../terminal/terminal-safe.ts";

/**
 * What every family of commands is registered with. Registering declares names, options and help; the code of a command is only
 * loaded when it runs, so that a start loads nothing else.
 */
export interface CommandHost {
  /** A command's action. */
  readonly runs: (load: () => Promise<CommandCode>) => (...given: unknown[]) => Promise<void>;
}

/** What a command says on standard output. */
export interface Said {
  /** For people: ready for a terminal, each line ended. A function is only called where it is printed. */
  readonly text: string | (() => string | Promise<string>);
  /** What `--json` prints in its place, a line of JSON each; absent: the command has no such option. */
  readonly rows?: readonly unknown[];
  /** 0 unless given. */
  readonly code?: number;
}

/** The command's one answer, in both forms. @param code 0 unless given */
export function said(json: unknown, text: Said["text"], code?: number): Said {
  return { rows: [json], text, ...(code === undefined ? {} : { code }) };
}

/** A list, from the same rows in both forms. @param none the text where there is no row */
export function listed<Row>(rows: readonly Row[], line: (row: Row) => string, none: string): Said {
  return { rows, text: () => linesOf(rows, line, none) };
}

/** As `listed` prints it. */
export function linesOf<Row>(rows: readonly Row[], line: (row: Row) => string, none: string): string {
  return rows.length === 0 ? `${none}\n` : rows.map((row) => `${line(row)}\n`).join("");
}

/**
 * Gets the arguments in their order, then the options, those before a subcommand included, then the `Console`; gives what is
 * printed, or the exit code of what it printed itself. Rejects with `CliError` if it fails in an expected way.
 */
export type CommandCode = (...given: never[]) => Promise<Said | number>;

/** @param ended takes the exit code of the command that ran */
export function commandHost(console: Console, ended: (code: number) => void): CommandHost {
  return {
    runs:
      (load) =>
      async (...given) => {
        const command = given.pop();
        if (!(command instanceof Command)) throw new TypeError("Commander gives the command last.");
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The options were declared for it.
        const run = (await load()) as (...given: unknown[]) => Promise<Said | number>;
        const options: Readonly<Record<string, unknown>> = command.optsWithGlobals();
        const end = await run(...given.slice(0, -1), options, console);
        if (typeof end === "number") return ended(end);
        const lines = options["json"] === true ? end.rows?.map((row) => `${jsonLine(row)}\n`) : undefined;
        console.output.write(lines?.join("") ?? (typeof end.text === "string" ? end.text : await end.text()));
        ended(end.code ?? exitCode.ok);
      },
  };
}
