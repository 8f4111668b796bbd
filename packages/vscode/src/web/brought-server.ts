import type { LaunchOutcome } from "../server/launch/launch-outcome.ts";

/** A browser cannot start programs. */
export function bringsServer(): boolean {
  return false;
}

export async function startBroughtServer(): Promise<LaunchOutcome> {
  return { type: "no-node" };
}

export async function broughtProgram(): Promise<undefined> {
  return undefined;
}
