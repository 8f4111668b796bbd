import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errorMessage } from "@gennai/protocol/error-message";
import { CliError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";

export interface LedgerPageFlags {
  readonly out?: string;
}

const name = "ledger-page.html";

/** `gennai ledger page`: the page that checks a bundle in a browser, as a new file. */
export async function ledgerPageCommand(flags: LedgerPageFlags, console: Console): Promise<number> {
  const page = await readFile(builtPage()).catch((error: unknown) => {
    throw new CliError("The page is not built.", {
      next: ["From source: node packages/ledger-page/scripts/build.mjs"],
      cause: error,
    });
  });
  const file = resolve(console.directory, flags.out ?? name);
  try {
    await writeFile(file, page, { flag: "wx" });
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${errorMessage(error)}`, {
      exitCode: exitCode.usage,
      next: ["Name a file that does not exist yet with --out."],
      cause: error,
    });
  }
  const sha256 = createHash("sha256").update(page).digest("hex");
  console.output.write(`${file}\nSHA-256 ${sha256}, the same for all who have this version\n`);
  return exitCode.ok;
}

/** Path of the page: beside the bundled program or, from source, where its own build writes it. */
function builtPage(): string {
  const beside = join(import.meta.dirname, name);
  return existsSync(beside) ? beside : join(import.meta.dirname, "../../../../ledger-page/dist", name);
}
