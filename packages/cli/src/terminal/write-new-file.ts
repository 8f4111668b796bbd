import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import { CliError } from "./cli-error.ts";
import type { Console } from "./console.ts";
import { exitCode } from "./exit-code.ts";

/** Writes a file that is not there yet, and says which. Throws `CliError`. @param mode by default only this user can read it */
export async function writeNewFile(
  named: string,
  parts: AsyncIterable<string> | Iterable<string | Uint8Array>,
  console: Console,
  mode = 0o600,
): Promise<void> {
  const file = resolve(console.directory, named);
  try {
    await pipeline(parts, createWriteStream(file, { flags: "wx", mode }));
  } catch (cause) {
    const next = ["Name a file that does not exist yet with --out."];
    throw new CliError(`${file} cannot be written: ${errorMessage(cause)}`, { exitCode: exitCode.usage, next, cause });
  }
  console.output.write(`${file}\n`);
}
