import { problemOf } from "@gennai/governance/limits/limits";
import type { ServerLog } from "@gennai/machine/server-log";
import { type LimitPlace, loadLimits } from "@gennai/sessions/rules/load-limits";
import type { TokenVerifier } from "./token-verifier.ts";

/**
 * Says in the log of a server of many users, when it starts, what would keep them out or from changing anything: else they
 * would be the first to notice.
 *
 * @param place where a policy is looked for
 */
export async function warnOfUsers(
  verifier: Pick<TokenVerifier, "missingKeys">,
  place: Omit<LimitPlace, "required">,
  log: Pick<ServerLog, "warn">,
): Promise<void> {
  const problem = problemOf((await loadLimits({ ...place, required: true }, Date.now)).current());
  if (problem !== undefined) log.warn(`Users may only read: ${problem}`);
  const missing = await verifier.missingKeys();
  if (missing !== undefined) log.warn(`No user gets in as long as the issuer's keys are missing: ${missing}`);
}
