import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { writeNewFile } from "../../terminal/write-new-file.ts";
import type { Said } from "../command-host.ts";

export interface LedgerPageFlags {
  readonly out?: string;
}

const name = "ledger-page.html";

/** `gennai ledger page`: the page that checks a bundle in a browser, as a new file. */
export async function ledgerPageCommand(flags: LedgerPageFlags, console: Console): Promise<Said> {
  const page = await readFile(builtPage()).catch((error: unknown) => {
    throw new CliError("The page is not built.", {
      next: ["From source: node packages/ledger-page/scripts/build.mjs"],
      cause: error,
    });
  });
  await writeNewFile(flags.out ?? name, [page], console, 0o666);
  const sha256 = createHash("sha256").update(page).digest("hex");
  return { text: `SHA-256 ${sha256}, the same for all who have this version\n` };
}

/** Path of the page: beside the bundled program or, from source, where its own build writes it. */
function builtPage(): string {
  const beside = join(import.meta.dirname, name);
  return existsSync(beside) ? beside : join(import.meta.dirname, "../../../../ledger-page/dist", name);
}
