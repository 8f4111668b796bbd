import { resolve } from "node:path";
import { commitOf } from "@gennai/provenance/changed-files";
import { WorkspaceProvenance } from "@gennai/provenance/workspace-provenance";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

/** Options that choose the source of provenance. */
export interface SourceFlags extends WorkspaceFlags {
  readonly bundle?: string;
  readonly publicKey?: string;
  readonly notes?: boolean;
}

/** Opens this machine's ledger, a bundle, or git's notes. Rejects with `CliError`. */
export async function openProvenance(flags: SourceFlags, console: Console) {
  const place = await placeHere(flags, console);
  if (flags.bundle !== undefined && flags.notes === true) {
    throw usageError("--bundle and --notes are two sources.", "Choose one of them.");
  }
  if (flags.publicKey !== undefined && flags.bundle === undefined && flags.notes !== true) {
    throw usageError("--public-key is for a bundle or for notes.", "Name the bundle with --bundle, or say --notes.");
  }
  const publicKeyFile = flags.publicKey === undefined ? undefined : resolve(console.directory, flags.publicKey);
  const provenance = await WorkspaceProvenance.open({
    ...place,
    ...(flags.notes === true ? { notes: { publicKeyFile } } : {}),
    ...(flags.bundle === undefined
      ? {}
      : { bundle: { file: resolve(console.directory, flags.bundle), publicKeyFile } }),
  });
  return { ...place, provenance };
}

/** The id of a commit of the workspace. Throws `CliError` if there is none. */
export async function commitNamed(name: string, workspaceRoot: string): Promise<string> {
  const id = await commitOf(workspaceRoot, name);
  if (id === undefined) {
    throw usageError(
      `${JSON.stringify(name)} is not a commit, branch or tag of ${workspaceRoot}.`,
      "Name one of them.",
    );
  }
  return id;
}
