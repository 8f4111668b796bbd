import type { ServerLog } from "@gennai/machine/server-log";
import { loadCapabilities } from "@gennai/sessions/rules/load-capabilities";
import type { TokenVerifier } from "./token-verifier.ts";

/**
 * Says in the log of a server of many users, when it starts, what would keep them out or from changing anything: else they
 * would be the first to notice.
 *
 * @param files where the capability profile is looked for
 */
export async function warnOfUsers(
  verifier: Pick<TokenVerifier, "missingKeys">,
  files: { readonly named: string | undefined; readonly configDir: string; readonly stateDir: string },
  log: Pick<ServerLog, "warn">,
): Promise<void> {
  const { problem } = (await loadCapabilities({ ...files, requiredByDefault: true }, Date.now)).current();
  if (problem !== undefined) log.warn(`Users may only read: ${problem}`);
  const missing = await verifier.missingKeys();
  if (missing !== undefined) log.warn(`No user gets in as long as the issuer's keys are missing: ${missing}`);
}
