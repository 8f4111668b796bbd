import { announcedServers } from "@gennai/client/node/announced-servers";
import { processEntry } from "@gennai/machine/process/process-table";
import type { DiscoveryRecord } from "@gennai/protocol/discovery";
import { proves } from "./server-token.ts";

/** A running server of this user, and its own token, which it may see. */
export type ProvenServer = Pick<DiscoveryRecord, "url"> & { readonly token: string };

/**
 * The servers announced in this state directory that prove their identity when asked: another process may have taken the port.
 * Newest first. Rejects only if the signal aborts.
 */
export async function* provenServers(
  stateDir: string,
  filter: { readonly workspace?: string; readonly port?: number },
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<ProvenServer> {
  const { servers } = await announcedServers(stateDir, filter.port === undefined ? {} : { port: filter.port });
  for (const { url, token, pid, workspace, socketPath } of servers) {
    if (filter.workspace !== undefined && filter.workspace !== workspace) continue;
    // No client of ours calls over a unix socket. One that is stopped takes a question, and says nothing.
    if (token === null || socketPath !== undefined || processEntry(pid)?.stopped === true) continue;
    if (await proves(url, token, options.signal)) yield { url, token };
  }
}
