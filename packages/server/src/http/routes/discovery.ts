import { mkdir, readdir, realpath, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  assertSafeDirectory,
  ensurePrivateDirectory,
  findPrivateFile,
  readPrivateFile,
} from "@gennai/machine/private-file";
import { isRunning } from "@gennai/machine/process/is-running";
import { replaceFile } from "@gennai/machine/replace-file";
import { hasCode } from "@gennai/machine/system-error";
import {
  type Announcements,
  type DiscoveryRecord,
  discoveryFileName,
  readAnnouncements,
} from "@gennai/protocol/discovery";
import { errorMessage } from "@gennai/protocol/error-message";

export interface FoundServers extends Pick<Announcements, "servers"> {
  /** Files that were not believed, and why. */
  readonly ignored: readonly { readonly file: string; readonly reason: string }[];
}

/**
 * Announces a server. Disposing removes the file if it is still this server's. Throws `UnsafeFileError` when the state
 * directory can be changed by others.
 */
export async function writeDiscovery(stateDirectory: string, record: DiscoveryRecord): Promise<AsyncDisposable> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const root = await realpath(stateDirectory);
  const directory = join(root, "servers");
  await ensurePrivateDirectory(root);
  await ensurePrivateDirectory(directory);
  const path = join(directory, discoveryFileName(record));
  const text = `${JSON.stringify(record, undefined, 2)}\n`;
  await replaceFile(path, text);
  return {
    async [Symbol.asyncDispose]() {
      const current = await readPrivateFile(path).catch(() => undefined);
      if (current === text) await unlink(path).catch(() => undefined);
    },
  };
}

/** Reads who announced themselves; `port` narrows it to one. Never throws for what is in the files. */
export async function findServers(
  stateDirectory: string,
  filter: { readonly port?: number } = {},
): Promise<FoundServers> {
  let directory = stateDirectory;
  try {
    const root = await realpath(stateDirectory);
    await assertSafeDirectory(root);
    directory = join(root, "servers");
    await assertSafeDirectory(directory);
  } catch (error) {
    return { servers: [], ignored: hasCode(error, "ENOENT") ? [] : [{ file: directory, reason: errorMessage(error) }] };
  }
  const names = filter.port === undefined ? await readdir(directory) : [`${filter.port}.json`];
  const { servers, ignored } = await readAnnouncements(names, {
    read: (name) => findPrivateFile(join(directory, name)),
    isRunning,
  });
  return { servers, ignored: ignored.map(({ name, reason }) => ({ file: join(directory, name), reason })) };
}
