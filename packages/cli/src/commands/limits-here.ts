import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { aheadRefusal } from "@gennai/governance/limits/laid-down";
import { type Limits, meet } from "@gennai/governance/limits/limits";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { refuseManaged } from "@gennai/machine/managed-refusal";
import { errorMessage } from "@gennai/protocol/error-message";
import { type LimitPlace, loadLimits } from "@gennai/sessions/rules/load-limits";
import { readPolicy } from "@gennai/sessions/rules/managed-policy";
import { usageError } from "../terminal/cli-error.ts";
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

/** The same with a candidate, which anybody may write. Rejects with `CliError` for one that cannot be used. @param candidate its file */
export async function limitsWith(candidate: string | undefined, console: Console): Promise<Limits> {
  const limits = await limitsHere(console);
  if (candidate === undefined) return limits;
  try {
    const file = resolve(console.directory, candidate);
    return meet(limits, [await readPolicy(await readFile(file, "utf8"), file)]);
  } catch (error) {
    throw usageError(errorMessage(error), "Correct it; docs/managed-policy.md has an example.");
  }
}

/** Throws `ManagedRefusal` where a policy wants a person to answer each question. */
export async function refuseAhead(console: Pick<Console, "environment">): Promise<void> {
  refuseManaged(aheadRefusal(await limitsHere(console)));
}
