import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { namesInOwn } from "@gennai/machine/entries/names-in";
import { readChecked } from "@gennai/machine/read-checked";
import { replaceFileSync } from "@gennai/machine/replace-file";
import { systemErrorCode } from "@gennai/machine/system-error";
import { isWithin } from "@gennai/protocol/is-within";
import { layerOwners } from "@gennai/stage/layer/layer-files";
import { openTransaction, transactionNames } from "@gennai/stage/transaction/transaction";
import * as z from "zod";

export type StoragePart = "sessions" | "contents" | "builds" | "earlier" | "snapshots" | "other";

/** What lies in a state directory, in the words of people. */
export const storageParts: readonly { readonly part: StoragePart; readonly what: string }[] = [
  { part: "sessions", what: "sessions and ledger" },
  { part: "contents", what: "contents that sessions name, for undo" },
  { part: "builds", what: "builds and dependencies of sessions" },
  { part: "earlier", what: "files that commands replaced, for undo" },
  { part: "snapshots", what: "snapshots around commands, for undo" },
  { part: "other", what: "other" },
];

const useSchema = z.strictObject({
  version: z.literal(1),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Bytes on disk. */
  parts: z.strictObject({
    sessions: z.number(),
    contents: z.number(),
    builds: z.number(),
    earlier: z.number(),
    snapshots: z.number(),
    other: z.number(),
  }),
});

/** How much a state directory takes, by what it is for, and when that was measured. */
export type StorageUse = z.infer<typeof useSchema>;

export function bytesOf({ parts }: Pick<StorageUse, "parts">): number {
  return Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
}

/** The state directories in one: its own, and those of its tenants. */
export function stateDirectoriesIn(stateDir: string): readonly string[] {
  const tenants = join(stateDir, "tenants");
  return [stateDir, ...namesInOwn(tenants).map((name) => join(tenants, name))];
}

/**
 * Measures a state directory and what lies beside workspaces for it. Gives way to other work; what cannot be read
 * counts nothing. Rejects with the signal's reason.
 */
export async function measureStorage(
  stateDir: string,
  { now, signal }: { readonly now: number; readonly signal?: AbortSignal | undefined },
): Promise<StorageUse> {
  const parts = { sessions: 0, contents: 0, builds: 0, earlier: 0, snapshots: 0, other: 0 };
  for (const directory of stateDirectoriesIn(stateDir)) {
    for (const name of namesInOwn(directory)) {
      if (name === "tenants") continue;
      parts[partOf(name)] += await bytesAt(join(directory, name), signal);
    }
  }
  const isBeside = (place: string): boolean => !isWithin(place, { directory: stateDir });
  for (const { place } of layerOwners(stateDir)) if (isBeside(place)) parts.builds += await bytesAt(place, signal);
  const roots = transactionNames(stateDir).flatMap((id) => openTransaction(stateDir, id)?.roots ?? []);
  for (const { directory } of roots) if (isBeside(directory)) parts.earlier += await bytesAt(directory, signal);
  return { version: 1, at: now, parts };
}

/** What was measured last; undefined before the first time. */
export function lastStorageUse(stateDir: string): StorageUse | undefined {
  return readChecked(join(stateDir, fileName), useSchema);
}

export function noteStorageUse(stateDir: string, use: StorageUse): void {
  replaceFileSync(join(stateDir, fileName), JSON.stringify(use));
}

const fileName = "storage.json";

function partOf(name: string): StoragePart {
  if (name.startsWith("gennai.db")) return "sessions";
  return partsByDirectory[name] ?? "other";
}

const partsByDirectory: Readonly<Record<string, StoragePart>> = {
  blobs: "contents",
  layers: "builds",
  stages: "earlier",
  checkpoints: "snapshots",
};

/** Bytes on disk of a file, or of a directory with all in it; 0 if it is not there. */
export async function bytesAt(top: string, signal?: AbortSignal): Promise<number> {
  let bytes = 0;
  const waiting = [Buffer.from(top)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    await giveWay();
    signal?.throwIfAborted();
    const found = look(path);
    bytes += found.bytes;
    for (const name of found.names) waiting.push(Buffer.concat([path, slash, name]));
  }
  return bytes;
}

const slash = Buffer.from("/");

function look(path: Buffer): { readonly bytes: number; readonly names: readonly Buffer[] } {
  try {
    const stat = lstatSync(path, { bigint: true });
    return { bytes: sizeOf(stat), names: stat.isDirectory() ? readdirSync(path, { encoding: "buffer" }) : [] };
  } catch (error) {
    // Gone meanwhile, or closed by a command.
    if (systemErrorCode(error) === undefined) throw error;
    return { bytes: 0, names: [] };
  }
}

/** Windows tells no blocks. */
function sizeOf({ blocks, size }: BigIntStats): number {
  return Number(blocks === undefined || blocks === 0n ? size : blocks * 512n);
}
