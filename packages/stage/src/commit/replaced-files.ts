import { join } from "node:path";
import { oldOf } from "@gennai/machine/change-set/held-operation";
import { readJournal, rootOf, type SetJournal } from "@gennai/machine/change-set/set-journal";
import { entryAt, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { systemErrorCode } from "@gennai/machine/system-error";
import { openTransaction, type Transaction, transactionNames } from "../transaction/transaction.ts";
import { hasWayBack, replacedIn } from "./way-back.ts";

/**
 * Finds files that commits replaced or removed, by content, while their ways back are kept. Another process may add or forget
 * some at any time.
 */
export class ReplacedFiles {
  readonly #stateDir: string;
  /** By id of the commit: the path of each content. */
  readonly #places = new Map<string, ReadonlyMap<string, string>>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Path of a file with this content, which nobody may write to. Undefined if none is kept, was changed since, or is too large. */
  async find(sha256: string, { maxBytes = Number.POSITIVE_INFINITY } = {}): Promise<string | undefined> {
    const names = transactionNames(this.#stateDir);
    for (const id of this.#places.keys()) if (!names.includes(id)) this.#places.delete(id);
    for (const id of names) {
      const path = (this.#places.get(id) ?? this.#look(id))?.get(sha256);
      if (path !== undefined && (await holds(path, sha256, maxBytes))) return path;
    }
    return undefined;
  }

  #look(id: string): ReadonlyMap<string, string> | undefined {
    if (!hasWayBack(this.#stateDir, id)) return undefined;
    const transaction = openTransaction(this.#stateDir, id);
    const written = transaction === undefined ? undefined : readJournal(transaction.directory);
    if (transaction === undefined || written?.phase !== "committed") return undefined;
    const places = placesIn(transaction, written.journal);
    this.#places.set(id, places);
    return places;
  }
}

/** False also if it was forgotten meanwhile, or lies in a directory that its user may not read. */
async function holds(path: string, sha256: string, maxBytes: number): Promise<boolean> {
  try {
    const stat = statIfPresent(path);
    if (stat?.isFile() !== true || stat.size > maxBytes) return false;
    const entry = await entryAt(path, stat);
    return entry.type === "file" && entry.sha256 === sha256;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}

/** An operation that took a directory took all that was in it. */
function placesIn(transaction: Transaction, { operations }: SetJournal): ReadonlyMap<string, string> {
  const taken = new Map(
    operations.flatMap((operation) => {
      const old = operation.before === null ? undefined : oldOf(rootOf(transaction, operation), operation);
      return old === undefined ? [] : [[`${operation.root}:${operation.path}`, old] as const];
    }),
  );
  const places = new Map<string, string>();
  for (const [sha256, root, path] of replacedIn(transaction.directory)) {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const old = taken.get(`${root}:${path.slice(0, end)}`);
      if (old === undefined) continue;
      places.set(sha256, join(old, path.slice(end)));
      break;
    }
  }
  return places;
}
