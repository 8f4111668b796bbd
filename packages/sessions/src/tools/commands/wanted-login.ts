import type { ToolOutcome } from "@gennai/governance/tool";
import type { KeyContext } from "@gennai/machine/keys/plan-key";
import { wantedLogins } from "@gennai/machine/keys/reading/plan-read";

/**
 * Tells the model that a host asks for a login which the user has, and remembers it: the next call of the same command asks
 * whether it may be used.
 *
 * @param text the command
 * @param wanted hosts, with ports; added to
 */
export async function withWantedLogin(
  outcome: ToolOutcome,
  text: string,
  place: KeyContext,
  wanted: Set<string>,
): Promise<ToolOutcome> {
  if (outcome.exitCode === 0 || place.signal.aborted) return outcome;
  const hosts = await wantedLogins(text, outcome.output, place, wanted).catch(() => []);
  if (hosts.length === 0) return outcome;
  for (const host of hosts) wanted.add(host);
  const note = `[${hosts.join(", ")} wants a login, and the user has one: run the same command again by itself, then the user is asked to let it be used]`;
  return { ...outcome, output: `${outcome.output}\n${note}` };
}
