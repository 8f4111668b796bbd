import type { LaunchOutcome } from "../server/launch/launch-outcome.ts";

/** A browser starts no programs. */
export function bringsServer(): boolean {
  return false;
}

export async function startBroughtServer(): Promise<LaunchOutcome> {
  return { type: "no-node" };
}
