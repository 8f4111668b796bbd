import { readRecord } from "@gennai/protocol/read-record";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { type Said, said } from "../command-host.ts";
import type { WorkspaceFlags } from "../options/resolve-workspace.ts";
import { explainRecord, recordsNamed } from "./explain-record.ts";
import { ledgerText } from "./ledger-commands.ts";

/** Most records that one id may match before a longer id is asked for: a call has two. */
const mostShown = 4;

/** `gennai ledger explain ID`: what happened, who agreed, by which rule. */
export async function ledgerExplainCommand(id: string, flags: WorkspaceFlags, console: Console): Promise<Said> {
  const lines = (await ledgerText(flags, console)).split("\n").filter((line) => line.trim() !== "");
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
  const all = lines.map(readRecord).filter((record) => record !== undefined);
  const explanations = named.map((record) => explainRecord(record, all));
  const paint = paintFor(console.output, console.environment);
  const text = explanations.flatMap(({ title, lines: told }) => [
    `${paint("bold", title)}\n`,
    ...told.map(([name, words]) => `  ${name.padEnd(9)} ${words}\n`),
  ]);
  return said(explanations, text.join(""));
}
