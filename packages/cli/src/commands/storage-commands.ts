import { existsSync } from "node:fs";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { loadServerConfig } from "@gennai/machine/config/server-config";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { freeStorage } from "@gennai/store/purge/free-storage";
import { bytesOf, measureStorage, type StorageUse, storageParts } from "@gennai/store/purge/storage-use";
import { CliError } from "../terminal/cli-error.ts";
import { type Console, commandName } from "../terminal/console.ts";
import { type Said, said } from "./command-host.ts";

/** `gennai storage`: measures now. */
export async function storageShowCommand(_flags: object, console: Console): Promise<Said> {
  const stateDir = defaultStateDir(console.environment);
  const { mostStorageBytes } = await loadServerConfig(userConfigDir(console.environment));
  const use = await measureStorage(stateDir, { now: Date.now() });
  const place = { stateDir, mostBytes: mostStorageBytes };
  return said({ ...place, ...use }, described(use, { ...place, console }));
}

/** `gennai storage free`: what can be made again goes. */
export async function storageFreeCommand(_flags: object, console: Console): Promise<Said> {
  const stateDir = defaultStateDir(console.environment);
  if (!existsSync(stateDir)) throw new CliError(`${stateDir} is not there yet.`, { next: [] });
  const freed = await freeStorage(stateDir, { mostBytes: 0, idleMs: 0, now: Date.now() });
  if (freed === undefined) {
    throw new CliError("Another process frees storage at this moment.", { next: ["Run it again in a minute."] });
  }
  const bytes = bytesOf(freed.before) - bytesOf(freed.after);
  const text = `Freed ${mebibytes(bytes)}; ${mebibytes(bytesOf(freed.after))} are left.\n`;
  return said({ stateDir, freedBytes: bytes, ...freed.after }, text);
}

function described(
  use: StorageUse,
  {
    stateDir,
    mostBytes,
    console,
  }: { readonly stateDir: string; readonly mostBytes: number; readonly console: Console },
): string {
  const name = commandName(console.environment);
  const rows = storageParts.map(({ part, what }) => `${mebibytes(use.parts[part]).padStart(10)}  ${what}\n`);
  return `${stateDir} takes ${mebibytes(bytesOf(use))} of at most ${mebibytes(mostBytes)}.
${rows.join("")}Old builds go by themselves; all of them at once: ${name} storage free. Sessions: ${name} ledger purge.
`;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}
