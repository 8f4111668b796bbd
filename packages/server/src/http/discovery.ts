import { mkdir, readdir, realpath, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  assertSafeDirectory,
  ensurePrivateDirectory,
  readPrivateFile,
  writePrivateFile,
} from "@gennai/machine/private-file";
import { hasCode } from "@gennai/machine/system-error";
import { z } from "zod";

const discoverySchema = z.strictObject({
  /** `http://host:port`, or `https://…`. */
  url: z.url({ protocol: /^https?$/ }),
  /** The server listens here instead of on a port. */
  socketPath: z.string().min(1).optional(),
  /** null: the server runs with `--no-auth`. */
  token: z.string().min(1).nullable(),
  pid: z.int().positive(),
  version: z.string(),
  /** Real absolute path. */
  workspace: z.string(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
});

/** What a running server tells clients of the same user, in `<state directory>/servers/<port>.json`, 0600. */
export type DiscoveryRecord = Readonly<z.infer<typeof discoverySchema>>;

export interface FoundServers {
  /** Running as far as their pid tells, newest first. Before the token is sent, `proveServer` must say yes. */
  readonly servers: readonly DiscoveryRecord[];
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
  const path = join(directory, fileName(record));
  const text = `${JSON.stringify(record, undefined, 2)}\n`;
  await writePrivateFile(path, text);
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
  const servers: DiscoveryRecord[] = [];
  const ignored: { file: string; reason: string }[] = [];
  let directory = stateDirectory;
  try {
    const root = await realpath(stateDirectory);
    await assertSafeDirectory(root);
    directory = join(root, "servers");
    await assertSafeDirectory(directory);
  } catch (error) {
    return { servers, ignored: hasCode(error, "ENOENT") ? [] : [{ file: directory, reason: messageOf(error) }] };
  }
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".json") || (filter.port !== undefined && name !== `${filter.port}.json`)) continue;
    const file = join(directory, name);
    try {
      const record = discoverySchema.parse(JSON.parse(await readPrivateFile(file)));
      if (fileName(record) !== name) ignored.push({ file, reason: "it names another server than its file name does" });
      else if (!isRunning(record.pid)) ignored.push({ file, reason: "its server is no longer running" });
      else servers.push(record);
    } catch (error) {
      const malformed = error instanceof SyntaxError || error instanceof z.ZodError;
      ignored.push({ file, reason: malformed ? "it is not a discovery file" : messageOf(error) });
    }
  }
  servers.sort((left, right) => right.startedAt - left.startedAt);
  return { servers, ignored };
}

function fileName(record: DiscoveryRecord): string {
  return record.socketPath === undefined ? `${portOf(record.url)}.json` : `socket-${record.pid}.json`;
}

function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === "https:" ? "443" : "80");
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
