import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type DiscoveryRecord, discoveryFileName, readAnnouncements } from "@gennai/protocol/discovery";
import { errorMessage } from "@gennai/protocol/error-message";
import { assertSafeDirectory, readPrivateFile } from "./private-file.ts";

/** A running server of this user, as it announced itself. Its token may be sent only after `proveServer` said yes. */
export interface AnnouncedServer {
  /** `http://host:port`. */
  readonly url: string;
  /** undefined: the server needs none. */
  readonly token: string | undefined;
  /** Real absolute path. */
  readonly workspace: string;
  readonly version: string;
  /** The options that it was started with, if it also serves other workspaces. */
  readonly shared: SharedOptions | undefined;
}

/** How a shared server was started: a window uses it only if it would start its own server the same way. */
export type SharedOptions = NonNullable<DiscoveryRecord["shared"]>;

/**
 * Servers that announced themselves in `<state directory>/servers/<port>.json` and whose process exists, newest first. Never
 * rejects because of the files' content: `onIgnored` is called for files that are not trusted.
 */
export async function announcedServers(
  stateDirectory: string,
  onIgnored: (file: string, reason: string) => void,
): Promise<readonly AnnouncedServer[]> {
  let directory = stateDirectory;
  let names: readonly string[];
  try {
    const root = await realpath(stateDirectory);
    await assertSafeDirectory(root);
    directory = join(root, "servers");
    await assertSafeDirectory(directory);
    names = await readdir(directory);
  } catch (error) {
    if (!isMissing(error)) onIgnored(directory, errorMessage(error));
    return [];
  }
  const { servers, ignored } = await readAnnouncements(names, {
    read: (name) => readPrivateFile(join(directory, name)).catch(undefinedIfMissing),
    isRunning,
  });
  for (const { name, reason, isGone } of ignored) if (!isGone) onIgnored(join(directory, name), reason);
  return servers.flatMap((server) => {
    const { url, socketPath, token, workspace, version, shared } = server;
    // The extension does not use unix sockets.
    if (socketPath !== undefined) return [];
    if (url.startsWith("http:")) return [{ url, token: token ?? undefined, workspace, version, shared }];
    onIgnored(join(directory, discoveryFileName(server)), "its address does not begin with http://");
    return [];
  });
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
