import type { Check } from "@gennai/machine/finding";
import { machineChecks } from "@gennai/shell/machine-checks";
import { stateChecks } from "@gennai/store/state-checks";
import { type ConfigDirectories, configChecks } from "./config-checks.ts";

/** Checks what works on this machine, lowest layer first. Changes nothing and starts no server. */
export function installationChecks(place: ConfigDirectories): readonly Check[] {
  return [...machineChecks(place), ...stateChecks(place), ...configChecks(place)];
}
