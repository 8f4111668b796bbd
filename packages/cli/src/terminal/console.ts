import { dirname, isAbsolute, relative, sep } from "node:path";
import { realPath } from "@gennai/machine/host/way-to";
import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";

/** The streams and surroundings of a command: the process's own, or a test's. */
export interface Console {
  readonly input: NodeJS.ReadStream | NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
  readonly environment: NodeJS.ProcessEnv;
  /** The user's working directory; base of relative paths. */
  readonly directory: string;
}

export function processConsole(): Console {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // It is no error here that a reader has gone, as in `gennai … | head`, or that a terminal was closed.
      if (error.code === "EPIPE" || error.code === "EIO") return;
      if (stream === process.stdout) process.stderr.write(`error: The output cannot be written: ${error.message}\n`);
      process.exit(exitCode.failed);
    });
  }
  return {
    // Node opens the input at its first use, and few commands read it.
    get input() {
      return process.stdin;
    },
    output: process.stdout,
    errors: process.stderr,
    environment: process.env,
    get directory() {
      return process.env["GENNAI_INVOKED_FROM"] ?? currentDirectory();
    },
  };
}

/** As the shell names it, which may be through a link. Throws `CliError` if it was deleted. */
function currentDirectory(): string {
  try {
    const real = process.cwd();
    const { PWD: said = "" } = process.env;
    return isAbsolute(said) && realPath(said) === real ? said : real;
  } catch (cause) {
    throw new CliError("The current directory does not exist any more.", { next: ["cd to another one."], cause });
  }
}

export function isTerminal(stream: NodeJS.ReadableStream | NodeJS.WritableStream): boolean {
  return "isTTY" in stream && stream.isTTY === true;
}

/** False where lines can be written, but nothing can be drawn. */
export function isDrawable({ input, output, environment }: Console): boolean {
  return isTerminal(input) && isTerminal(output) && environment["TERM"] !== "dumb";
}

/**
 * The command with which the user started us, for suggestions. `npm start --` works only in its own repository; from elsewhere,
 * as with `npm --prefix`, our own name is used.
 */
export function commandName(environment: NodeJS.ProcessEnv): string {
  if (environment["npm_lifecycle_event"] !== "start") return "gennai";
  const { npm_package_json: manifest, GENNAI_INVOKED_FROM: from } = environment;
  if (manifest === undefined || from === undefined) return "npm start --";
  const way = relative(dirname(manifest), from);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way) ? "gennai" : "npm start --";
}

/** A text of ours or of the server, with commands as the user would type them. Not for what people wrote. */
export function asTyped(text: string, environment: NodeJS.ProcessEnv): string {
  return text.replace(ownCommand, commandName(environment));
}

const ownCommand =
  /(?<![\w./-])gennai(?= (?:-|\[|(?:serve|run|attempts|try|open|doctor|undo|stage|sessions|plan|policy|intents|hooks|emergency|guard|ledger|mcp|check)\b))/g;
