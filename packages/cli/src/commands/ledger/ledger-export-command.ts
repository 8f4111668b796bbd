import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { bundleParts, usualBundleParts } from "@gennai/store/audit/bundle-parts";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { writeLines } from "../../terminal/write-lines.ts";
import { writeNewFile } from "../../terminal/write-new-file.ts";
import { partsOf } from "../options/chosen-parts.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { listedBundle, listedLines } from "./listed-export.ts";

export interface LedgerExportFlags {
  readonly workspace?: string;
  readonly format?: string;
  readonly out?: string;
  readonly include?: string;
  readonly dryRun?: boolean;
}

const formats = ["agent-trace", "bundle", "seed001"] as const;

/** `gennai ledger export`: to a new file (0600), or to standard output. */
export async function ledgerExportCommand(flags: LedgerExportFlags, console: Console): Promise<number> {
  const format = formats.find((name) => name === flags.format);
  if (format === undefined) {
    throw usageError(`There is no format ${JSON.stringify(flags.format)}.`, `Choose --format ${formats.join(", ")}.`);
  }
  const parts = partsOf(flags.include, { all: bundleParts, usual: usualBundleParts });
  if (format !== "bundle" && parts.has("prompts")) {
    throw usageError("Lines are records, which hold no prompts: sessions are in bundles.", "Add --format bundle.");
  }
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const ledger = new WorkspaceLedger({ workspaceRoot, stateDir: defaultStateDir(console.environment) });
  const lines = ledger.export(format, parts);
  if (flags.dryRun === true) {
    const listed = format === "bundle" ? listedBundle : listedLines;
    console.errors.write(await listed(lines, parts, workspaceRoot));
    return exitCode.ok;
  }
  if (flags.out === undefined) {
    await writeLines(lines, console.output);
    return exitCode.ok;
  }
  await writeNewFile(flags.out, lines, console);
  return exitCode.ok;
}
