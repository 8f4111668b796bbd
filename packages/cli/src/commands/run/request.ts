import { fstatSync } from "node:fs";
import { text } from "node:stream/consumers";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import type { RunFlags } from "./run-options.ts";

/** What a server takes of one request, with room for the request's own words. */
const mostCharacters = 1_000_000;

/** The request of a command line. undefined: there is none, so a prompt asks. Throws `CliError`. */
export async function requestOf(
  words: readonly string[],
  flags: Pick<RunFlags, "ask">,
  console: Console,
): Promise<string | undefined> {
  const request = words.join(" ");
  if (words.length === 0) return undefined;
  if (request.trim() === "") throw usageError("The prompt is empty.", 'For example: gennai run "explain src/main.js"');
  // With --ask, the input is a person's answers.
  return flags.ask === true ? request : withPipedInput(request, console);
}

/**
 * The request with what is piped in behind it, as in `git diff | gennai run "review this"`; secrets are masked, as in a file.
 * Reads only a pipe or a file to its end: a terminal is for answers, and a socket may never end. Throws `CliError` for too much.
 */
async function withPipedInput(request: string, console: Console): Promise<string> {
  const { input } = console;
  if (!isPiped(input)) return request;
  const piped = await text(input);
  if (piped.trim() === "") return request;
  if (piped.length > mostCharacters) {
    throw usageError(
      `The piped input has ${piped.length} characters; a prompt may have ${mostCharacters}.`,
      "Write it to a file of the workspace, and name that file in the prompt.",
    );
  }
  const redactor = await createRedactor({ secrets: [] });
  return `${request}\n\n<stdin>\n${await redactor.redact(piped.replace(/\n$/, ""))}\n</stdin>`;
}

function isPiped(input: Console["input"]): boolean {
  if (!("fd" in input) || typeof input.fd !== "number") return false;
  const stat = fstatSync(input.fd);
  return stat.isFIFO() || stat.isFile();
}
