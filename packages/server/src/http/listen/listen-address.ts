import { lstat, realpath, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { dirname } from "node:path";
import { assertSafeDirectory } from "@gennai/machine/private-file";
import { hasCode } from "@gennai/machine/system-error";

export type ListenAddress =
  /** Port 0 takes any free one. */
  | { readonly type: "tcp"; readonly host: string; readonly port: number }
  /** Absolute path, in a directory only this user can change. */
  | { readonly type: "socket"; readonly path: string };

/** Someone else listens there. */
export class PortTakenError extends Error {
  override readonly name = "PortTakenError";
  readonly code = "port_taken";
  /** The next free port, if there is one nearby. */
  readonly freePort: number | undefined;

  constructor(where: string, freePort: number | undefined, cause: unknown) {
    super(`${where} is in use${freePort === undefined ? "" : `; port ${freePort} is free`}`, { cause });
    this.freePort = freePort;
  }
}

const PORTS_TO_TRY = 20;

/** Resolves with what was bound, the port filled in. Rejects with `PortTakenError`, `UnsafeFileError` or the system's error. */
export async function listenOn(server: Server, address: ListenAddress): Promise<ListenAddress> {
  if (address.type === "socket") {
    await assertSafeDirectory(await realpath(dirname(address.path)));
    await removeDeadSocket(address.path);
    await listen(server, { path: address.path }).catch((error: unknown) => {
      throw hasCode(error, "EADDRINUSE") ? new PortTakenError(address.path, undefined, error) : error;
    });
    return address;
  }
  try {
    await listen(server, { host: address.host, port: address.port, exclusive: true });
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw error;
    const freePort = await nextFreePort(address.host, address.port + 1);
    throw new PortTakenError(`port ${address.port} of ${address.host}`, freePort, error);
  }
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? { ...address, port: bound.port } : address;
}

function listen(
  server: Server,
  where: { host: string; port: number; exclusive: true } | { path: string },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(where, () => {
    server.off("error", reject);
    resolve();
  });
  return promise;
}

async function nextFreePort(host: string, from: number): Promise<number | undefined> {
  for (let port = from; port < from + PORTS_TO_TRY && port <= 65_535; port += 1) {
    const probe = createServer();
    try {
      await listen(probe, { host, port, exclusive: true });
      await new Promise((resolve) => probe.close(resolve));
      return port;
    } catch {
      // Taken or not permitted: the next one.
    }
  }
  return undefined;
}

/** Removes a socket file without a listener, left by a killed server. Anything else stays, and listening fails. */
async function removeDeadSocket(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined || !stat.isSocket()) return;
  const alive = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => resolve(true));
    probe.once("error", (error) => resolve(!hasCode(error, "ECONNREFUSED")));
    probe.once("connect", () => probe.destroy());
  });
  if (!alive) await unlink(path);
}
