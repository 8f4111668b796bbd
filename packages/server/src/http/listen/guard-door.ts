import { join } from "node:path";
import { ensurePrivateDirectory } from "@gennai/machine/private-file";
import type { ServerLog } from "@gennai/machine/server-log";
import { type DiscoveryRecord, discoveryFileName } from "@gennai/protocol/discovery";
import { errorMessage } from "@gennai/protocol/error-message";
import type { RouteTable } from "../route.ts";
import { listenHttp } from "./http-server.ts";

/** Bytes of a socket's path that every system takes. */
const maxPath = 100;

const guardCallPath = "/gennai.agent.v1.GovernanceService/GuardCall";

/**
 * Opens the entrance for hooks of guarded agents: a Unix socket next to the server's announcement file and named after it, only
 * for their call. Only this user can create a socket there, so the server need not prove its identity first; the token is
 * required as everywhere. Undefined if it cannot be opened: then hooks connect like other clients.
 */
export async function openGuardDoor(
  stateDir: string,
  record: Pick<DiscoveryRecord, "url" | "pid">,
  { token, routes, log }: { readonly token: string; readonly routes: RouteTable; readonly log: ServerLog },
): Promise<AsyncDisposable | undefined> {
  const directory = join(stateDir, "servers");
  const path = join(directory, discoveryFileName(record).replace(/\.json$/, ".sock"));
  const route = routes.get(guardCallPath);
  if (route === undefined || process.platform === "win32" || Buffer.byteLength(path) > maxPath) return undefined;
  try {
    await ensurePrivateDirectory(directory);
    return await listenHttp({
      address: { type: "socket", path },
      token,
      routes: () => new Map([[guardCallPath, route]]),
      onError: (error) => log.error("A hook's request failed unexpectedly.", error),
    });
  } catch (error) {
    log.warn(`Hooks of guarded agents take the slower way: ${errorMessage(error)}`);
    return undefined;
  }
}
