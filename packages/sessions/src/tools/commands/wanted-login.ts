import type { ToolOutcome } from "@gennai/governance/tool";
import type { RegistryLogin } from "@gennai/machine/keys/plan-install";

/**
 * Tells the model that a registry wants a login which the user has, and remembers that: the next call of the same install asks
 * whether it may be used.
 *
 * @param logins that the user has for what the command installs from
 * @param wanted hosts, with their ports; added to
 */
export function withWantedLogin(
  outcome: ToolOutcome,
  logins: readonly Pick<RegistryLogin, "registry">[],
  wanted: Set<string>,
): ToolOutcome {
  if (outcome.exitCode === 0 || logins.length === 0 || !/\bE(?:401|403|NEEDAUTH)\b/.test(outcome.output))
    return outcome;
  const named = logins.map(({ registry }) => registry.host).filter((host) => outcome.output.includes(host));
  const hosts = named.length > 0 ? named : logins.map(({ registry }) => registry.host);
  for (const host of hosts) wanted.add(host);
  const note = `[${hosts.join(", ")} wants a login, and the user has one: run the same command again by itself, then the user is asked to let it be used]`;
  return { ...outcome, output: `${outcome.output}\n${note}` };
}
