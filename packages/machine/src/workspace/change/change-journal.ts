import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { fitsBlock, inBlock, overwriteBlock } from "../../file-in-place.ts";
import { atExit } from "../../process/at-exit.ts";
import { bootOf, isRunning, thisOwner } from "../../process/locks/journal-owner.ts";
import { temporaryPrefix } from "../files/held-file.ts";

/**
 * Writes down what an `apply` is about to do, before it does any of it. The file is complete or absent; with pre-images (more
 * than one change) it is also durable when this returns.
 *
 * @returns path of the journal, for `removeJournal`
 */
export function writeJournal(stateDir: string, journal: ChangeJournal): string {
  const directory = journalDirectory(stateDir);
  const text = JSON.stringify(journal);
  const durable = journal.changes.length > 1;
  const isBlock = !durable && fitsBlock(text);
  const again = isBlock ? writeKept(directory, text) : undefined;
  if (again !== undefined) return again;
  if (!prepared.has(directory)) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
    prepared.add(directory);
  }
  count += 1;
  const path = join(directory, `${thisOwner()}-${count}.json`);
  try {
    writeNew(`${path}.new`, isBlock ? inBlock(text) : text, durable);
    renameSync(`${path}.new`, path);
    if (durable) syncDirectory(directory);
  } catch (error) {
    prepared.delete(directory);
    rmSync(`${path}.new`, { force: true });
    rmSync(path, { force: true });
    throw error;
  }
  if (isBlock) blocks.add(path);
  return path;
}

/** A journal of one change is blanked, and kept for the next one, at longest until this process ends. */
export function removeJournal(path: string): void {
  if (!blocks.has(path)) return rmSync(path, { force: true });
  if (!overwriteBlock(path, "")) return forgetBlock(path);
  atEnd ??= atExit(() => [...kept].forEach(forgetBlock));
  kept.add(path);
  const [oldest] = kept;
  if (kept.size > mostKept && oldest !== undefined) forgetBlock(oldest);
}

/** @returns path of a kept journal that now holds `text`; undefined if there is none */
function writeKept(directory: string, text: string): string | undefined {
  for (const path of kept) {
    if (dirname(path) !== directory) continue;
    kept.delete(path);
    if (overwriteBlock(path, text)) return path;
    forgetBlock(path);
  }
  return undefined;
}

function forgetBlock(path: string): void {
  blocks.delete(path);
  kept.delete(path);
  rmSync(path, { force: true });
}

/** Journals of processes that have ended. Removes incomplete and blank ones: no change was begun, or all of it was done. */
export function abandonedJournals(stateDir: string): readonly AbandonedJournal[] {
  const directory = journalDirectory(stateDir);
  const abandoned: AbandonedJournal[] = [];
  for (const name of namesIn(directory).sort()) {
    const match = journalName.exec(name);
    if (match === null || isRunning(match[1] ?? "")) continue;
    const path = join(directory, name);
    const text = name.endsWith(".new") ? "" : readFileSync(path, "utf8");
    if (text.trim() === "") rmSync(path, { force: true });
    else
      abandoned.push({
        path,
        journal: parseJournal(text),
        isOfThisBoot: bootOf(match[1] ?? "") === bootOf(thisOwner()),
      });
  }
  return abandoned;
}

export interface AbandonedJournal {
  readonly path: string;
  /** Undefined if the file is damaged. */
  readonly journal: ChangeJournal | undefined;
  /** False after a power cut: that a change had ended may not have come to the disk, if it was the only one of its journal. */
  readonly isOfThisBoot: boolean;
}

const changeSchema = z.strictObject({
  operation: z.enum(["create", "update", "delete"]),
  /** Relative to the root, with `/`. */
  path: z.string(),
  /** SHA-256 before and after; null where there is no file. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Name of the temporary file beside it. */
  temporary: z.string().startsWith(temporaryPrefix),
  /** Base64 of the earlier content, and what else is needed to restore it. Null for a create, and in a journal of one change. */
  preImage: z.strictObject({ bytes: z.string(), mode: z.number(), owner: z.number(), group: z.number() }).nullable(),
});
const journalSchema = z.strictObject({
  version: z.literal(1),
  root: z.strictObject({ path: z.string(), device: z.number(), inode: z.number() }),
  changes: z.array(changeSchema),
  /** Directories that had to be created, outermost first, relative to the root. */
  directories: z.array(z.string()),
});

export type ChangeJournal = z.infer<typeof journalSchema>;
export type JournalledChange = z.infer<typeof changeSchema>;

function parseJournal(text: string): ChangeJournal | undefined {
  try {
    return journalSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function writeNew(path: string, text: string, durable: boolean): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    if (durable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function journalDirectory(stateDir: string): string {
  return join(stateDir, "workspace-journals");
}

const journalName = /^(\d+-\d+-[0-9a-f]+)-\d+\.json(?:\.new)?$/;
const prepared = new Set<string>();
/** Journals of this process that are one block, and those of them that are blank and wait for the next change. */
const blocks = new Set<string>();
const kept = new Set<string>();
const mostKept = 8;
let atEnd: Disposable | undefined;
let count = 0;
