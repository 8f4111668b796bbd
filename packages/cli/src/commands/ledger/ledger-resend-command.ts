import { exportsOf } from "@gennai/governance/limits/laid-down";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { requireServerConfig } from "@gennai/machine/config/server-config";
import { resendRecords } from "@gennai/server/export/resend-records";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { version } from "../../terminal/version.ts";
import { type Said, said } from "../command-host.ts";
import { limitsHere } from "../limits-here.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

/** `gennai ledger resend`: sends records once more, e.g. what a receiver took and rejected. Throws `CliError` where it does not take them. */
export async function ledgerResendCommand(
  range: string,
  flags: WorkspaceFlags & { readonly name: string },
  console: Console,
): Promise<Said> {
  const [, from = "", to = from] = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(range) ?? [];
  if (from === "" || Number(from) < 1 || Number(to) < Number(from)) {
    throw usageError(`${range} is no range of records.`, "Write two numbers, as 12..40.");
  }
  const { exports } = await requireServerConfig(userConfigDir(console.environment));
  const destinations = exportsOf(await limitsHere(console), exports);
  const destination = destinations.find(({ name }) => name === flags.name);
  if (destination === undefined) {
    const known = destinations.map(({ name }) => name).join(", ") || "none";
    throw usageError(`There is no export ${flags.name}.`, `Known are: ${known}.`);
  }
  const place = { ...(await placeHere(flags, console)), version };
  const wanted = { from: Number(from), to: Number(to) };
  const { sent, delivery } = await resendRecords(destination, wanted, place, new AbortController().signal);
  if (delivery.type !== "taken" || delivery.rejected !== undefined) {
    const why = delivery.type === "taken" ? delivery.rejected : delivery.why;
    throw new CliError(`${flags.name} took ${sent} records, then no more: ${why}.`, { next: ["Try it again later."] });
  }
  return said({ name: flags.name, sent }, `${flags.name} took ${sent} records.\n`);
}
