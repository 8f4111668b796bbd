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
 * Where the hooks of guarded agents come in: a Unix socket beside the server's announcement, by the name of that file, for the one call
 * that they make. Only this user can put a socket there, so that who connects need not be shown first that it is the server; the token is
 * asked for as everywhere. undefined where there can be none: hooks take the way that other clients take.
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
    });
  } catch (error) {
    log.warn(`Hooks of guarded agents take the slower way: ${errorMessage(error)}`);
    return undefined;
  }
}
