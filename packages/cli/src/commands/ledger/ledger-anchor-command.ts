import { resolve } from "node:path";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type Said, said } from "../command-host.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

export interface LedgerAnchorFlags extends WorkspaceFlags {
  readonly to?: string;
  readonly git?: boolean;
}

/** `gennai ledger anchor`: signs the head of a ledger that is sound, and keeps it in a witness file or in git's notes. */
export async function ledgerAnchorCommand(flags: LedgerAnchorFlags, console: Console): Promise<Said> {
  if ((flags.to === undefined) === (flags.git !== true)) {
    throw usageError("Say where the head is kept.", "--to FILE, or --git for git's notes of the present commit.");
  }
  const ledger = new WorkspaceLedger(await placeHere(flags, console));
  const { status, message } = await ledger.verify();
  if (status !== "ok") {
    throw new CliError(`The ledger is not correct (${status}), so nothing was signed: ${message}`, {
      next: ["gennai ledger verify says where."],
    });
  }
  const file = flags.to === undefined ? undefined : resolve(console.directory, flags.to);
  const head = await ledger.anchor(file === undefined ? { git: true } : { file });
  const where = file ?? "git's notes, refs/notes/gennai-anchors";
  const lines = [
    head.isNew ? `Anchored ${head.size} records in ${where}` : `${head.size} records are anchored in ${where} already.`,
    `  key      ${head.verifierKey}`,
    "  next     give it to somebody outside of your control to keep; gennai ledger verify compares",
  ];
  return said({ ...head, where }, `${lines.join("\n")}\n`);
}
