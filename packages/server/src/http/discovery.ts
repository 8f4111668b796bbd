import { mkdir, realpath, unlink } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDirectory, readPrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { type DiscoveryRecord, discoveryFileName } from "@gennai/protocol/discovery";

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
