import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Announcements, readAnnouncements } from "@gennai/protocol/discovery";
import { errorMessage } from "@gennai/protocol/error-message";
import { assertSafeDirectory, hasCode, readPrivateFile } from "./private-file.ts";

/** The running servers of a user. A server's token may be sent only after `proveServer` said yes. */
export interface FoundServers extends Pick<Announcements, "servers"> {
  /** Files that were not believed, and why. */
  readonly ignored: readonly { readonly file: string; readonly reason: string; readonly isGone: boolean }[];
}

/**
 * Servers that announced themselves in `<state directory>/servers/<port>.json` and whose process exists, newest first. Never
 * rejects because of the files' content. @param filter.port narrows it to one
 */
export async function announcedServers(
  stateDirectory: string,
  filter: { readonly port?: number } = {},
): Promise<FoundServers> {
  let directory = stateDirectory;
  let names: readonly string[];
  try {
    const root = await realpath(stateDirectory);
    await assertSafeDirectory(root);
    directory = join(root, "servers");
    await assertSafeDirectory(directory);
    names = filter.port === undefined ? await readdir(directory) : [`${filter.port}.json`];
  } catch (error) {
    const ignored = { file: directory, reason: errorMessage(error), isGone: false };
    return { servers: [], ignored: hasCode(error, "ENOENT") ? [] : [ignored] };
  }
  const { servers, ignored } = await readAnnouncements(names, {
    read: (name) =>
      readPrivateFile(join(directory, name)).catch((error: unknown) => {
        if (!hasCode(error, "ENOENT")) throw error;
        return undefined;
      }),
    isRunning,
  });
  return { servers, ignored: ignored.map(({ name, ...why }) => ({ file: join(directory, name), ...why })) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}
