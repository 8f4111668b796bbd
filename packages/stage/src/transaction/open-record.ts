import { existsSync, rmSync } from "node:fs";
import { readChecked } from "@gennai/machine/read-checked";
import { replaceFileSync } from "@gennai/machine/replace-file";
import * as z from "zod";

const schema = z.strictObject({
  version: z.literal(1),
  session: z.string(),
  /** Real path. */
  workspace: z.string(),
  /** What is under way in git, e.g. `a merge`. */
  operation: z.string(),
  /** ISO 8601: when it began. */
  at: z.string(),
  /** The process that uses it. */
  owner: z.string(),
  /** As in `Stage`, of the first run. */
  markers: z.array(z.string()),
  /** The user's HEAD and index, as the runs see them. */
  head: z.string(),
  index: z.string(),
  /** The user's entries at the tracked paths that the runs wrote; empty for none. By path from the work tree's top. */
  touched: z.record(z.string(), z.string()),
});

/** Why a transaction stays: later runs of its session go on with what it holds, also after this process ends. */
export type OpenRecord = Omit<z.infer<typeof schema>, "version">;

/** @param directory of the transaction */
export function readOpen(directory: string): OpenRecord | undefined {
  return readChecked(recordOf(directory), schema);
}

export function writeOpen(directory: string, record: OpenRecord): void {
  replaceFileSync(recordOf(directory), JSON.stringify({ version: 1, ...record }), { durable: true });
}

/** From now on the transaction can be removed like any other. */
export function removeOpen(directory: string): void {
  rmSync(recordOf(directory), { force: true });
}

export function isOpen(directory: string): boolean {
  return existsSync(recordOf(directory));
}

/** Beside the transaction, so that the list of transactions says which are open. */
function recordOf(directory: string): string {
  return `${directory}${openEnding}`;
}

/** End of a record's name, after that of its transaction. */
export const openEnding = ".open.json";
