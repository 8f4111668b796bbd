import type { AllowedEndpoint, Connection } from "../connection.ts";
import { sameEndpoint } from "../endpoint.ts";

/** More than a person reads in one question are not asked about. */
export const maxEndpoints = 20;

/** Endpoints that a command was refused, without duplicates, with the private address of their name, if any. */
export function refusedEndpoints(connections: readonly Connection[]): readonly AllowedEndpoint[] {
  const refused: AllowedEndpoint[] = [];
  for (const { state, host, port, address } of connections) {
    if (state !== "refused" || refused.some((one) => sameEndpoint(one, { host, port }))) continue;
    refused.push({ host, port, ...(address === undefined ? {} : { address }) });
  }
  return refused.slice(0, maxEndpoints);
}
