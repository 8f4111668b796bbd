import { resolve } from "node:path";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface LedgerAnchorFlags {
  readonly workspace?: string;
  readonly to?: string;
  readonly git?: boolean;
  readonly json?: boolean;
}

/** `gennai ledger anchor`: signs the head of a ledger that is sound, and keeps it in a witness file or in git's notes. */
export async function ledgerAnchorCommand(flags: LedgerAnchorFlags, console: Console): Promise<number> {
  if ((flags.to === undefined) === (flags.git !== true)) {
    throw usageError("Say where the head is kept.", "--to FILE, or --git for git's notes of the present commit.");
  }
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const ledger = new WorkspaceLedger({ workspaceRoot, stateDir: defaultStateDir(console.environment) });
  const { status, message } = await ledger.verify();
  if (status !== "ok") {
    throw new CliError(`The ledger is not correct (${status}), so nothing was signed: ${message}`, {
      next: ["gennai ledger verify says where."],
    });
  }
  const file = flags.to === undefined ? undefined : resolve(console.directory, flags.to);
  const head = await ledger.anchor(file === undefined ? { git: true } : { file });
  const where = file ?? "git's notes, refs/notes/gennai-anchors";
  if (flags.json === true) console.output.write(`${JSON.stringify({ ...head, where })}\n`);
  else {
    console.output.write(
      [
        head.isNew
          ? `Anchored ${head.size} records in ${where}`
          : `${head.size} records are anchored in ${where} already.`,
        `  key      ${head.verifierKey}`,
        "  next     give it to somebody outside of your control to keep; gennai ledger verify compares",
        "",
      ].join("\n"),
    );
  }
  return exitCode.ok;
}
