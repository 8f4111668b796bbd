import { aheadRefusal } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { refuseManaged } from "@gennai/machine/managed-refusal";
import { type LimitPlace, loadLimits } from "@gennai/sessions/rules/load-limits";
import type { Console } from "../terminal/console.ts";
import { version } from "../terminal/version.ts";

/** Where this machine's policies are looked for. */
function limitPlace({ environment }: Pick<Console, "environment">): LimitPlace {
  const configDir = userConfigDir(environment);
  return { environment, configDir, stateDir: defaultStateDir(environment), required: false, version };
}

/** The limits in force for what this process does itself, as on a private machine. */
export async function limitsHere(console: Pick<Console, "environment">): Promise<Limits> {
  return (await loadLimits(limitPlace(console), Date.now)).current();
}

/** Throws `ManagedRefusal` where a policy wants a person to answer each question. */
export async function refuseAhead(console: Pick<Console, "environment">): Promise<void> {
  refuseManaged(aheadRefusal(await limitsHere(console)));
}
