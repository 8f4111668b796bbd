import { readFile } from "node:fs/promises";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { explainRecord, recordsNamed } from "./explain-record.ts";
import type { LedgerFlags } from "./ledger-commands.ts";
import { parseRecord } from "./record-fields.ts";

/** Most records that one id may match before a longer id is asked for: a call has two. */
const mostShown = 4;

/** `gennai ledger explain ID`: what happened, who agreed, by which rule. */
export async function ledgerExplainCommand(id: string, flags: LedgerFlags, console: Console): Promise<number> {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const { file } = new WorkspaceLedger({ stateDir: defaultStateDir(console.environment), workspaceRoot });
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError(`There is no ledger at ${file}.`, {
      next: ["Nothing was recorded here yet, or it was removed: gennai ledger verify says which."],
      cause: error,
    });
  });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const named = recordsNamed(id, lines);
  if (named.length === 0) {
    throw new CliError(`The ledger has no record ${JSON.stringify(id)}.`, {
      next: ["Name a record by its number or id, or a call by its id. gennai ledger show lists them."],
    });
  }
  if (named.length > mostShown) {
    throw usageError(
      `${JSON.stringify(id)} may mean ${named.length} records.`,
      "Say more of the id, or the number of the record.",
    );
  }
  const all = lines.map(parseRecord).filter((record) => record !== undefined);
  const explanations = named.map((record) => explainRecord(record, all));
  if (flags.json === true) {
    console.output.write(`${JSON.stringify(explanations)}\n`);
    return exitCode.ok;
  }
  const paint = paintFor(console.output, console.environment);
  for (const { title, lines: said } of explanations) {
    console.output.write(`${paint("bold", title)}\n`);
    for (const [name, words] of said) console.output.write(`  ${name.padEnd(9)} ${words}\n`);
  }
  return exitCode.ok;
}
