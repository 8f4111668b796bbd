import { join } from "node:path";
import * as z from "zod";
import { readJournal } from "../../change-set/set-journal.ts";
import { readChecked } from "../../read-checked.ts";
import { writeDurably } from "../../write-durably.ts";
import { type Transaction, transactionDirectory, transactionNames } from "../transaction/transaction.ts";
import { aloneWithCommits } from "./commit-lock.ts";
import { forgetCommit, undoCommit } from "./undo-commit.ts";

const schema = z.strictObject({
  version: z.literal(1),
  /** Real path. */
  workspace: z.string(),
  /** What was kept, in a few words: the command. */
  title: z.string(),
  /** Milliseconds since the epoch. */
  keptAt: z.number(),
});

/** A commit that a person made without a session, and can take back. */
export interface WayBack extends Omit<z.infer<typeof schema>, "version"> {
  /** The id of the transaction. */
  readonly id: string;
}

/** Limit for one workspace; beyond it the oldest are forgotten, because the earlier files take space on disk. */
const maxOfWorkspace = 20;
const maxAgeMs = 14 * 24 * 60 * 60 * 1000;

const fileName = "way-back.json";

/** Call it before the commit: from then on the commit can be undone after this process ends. */
export function noteWayBack({ directory }: Transaction, about: Omit<WayBack, "id">): void {
  writeDurably(join(directory, fileName), JSON.stringify({ version: 1, ...about }));
}

/** Whether a commit can be undone by name; false if its record cannot be read. */
export function hasWayBack(stateDir: string, id: string): boolean {
  return read(transactionDirectory(stateDir, id)) !== undefined;
}

function read(directory: string): z.infer<typeof schema> | undefined {
  return readChecked(join(directory, fileName), schema);
}

/** What can be taken back, newest first. @param workspace real path; all without it */
function waysBack(stateDir: string, workspace?: string): readonly WayBack[] {
  return transactionNames(stateDir)
    .flatMap((id) => {
      const directory = transactionDirectory(stateDir, id);
      const written = read(directory);
      if (written === undefined || readJournal(directory)?.phase !== "committed") return [];
      const { version: _, ...about } = written;
      return [{ id, ...about }];
    })
    .filter((way) => workspace === undefined || way.workspace === workspace)
    .toSorted((one, other) => other.keptAt - one.keptAt);
}

/**
 * Restores a workspace as it was before the newest such commit. Throws `NotCommitted` (`stale_file`) if others changed the same
 * since; then nothing is changed.
 *
 * @param begin is told what is about to be undone, and may throw
 * @returns what was undone; undefined if there is nothing
 */
export function goBack(
  stateDir: string,
  workspace: string,
  begin: (way: WayBack) => Promise<void>,
): Promise<WayBack | undefined> {
  return aloneWithCommits(stateDir, async () => {
    const [newest] = waysBack(stateDir, workspace);
    if (newest === undefined) return undefined;
    await begin(newest);
    return (await undoCommit(stateDir, newest.id)) ? newest : undefined;
  });
}

/** Forgets the commits that are too old or too many. The caller holds the lock of `aloneWithCommits`. */
export async function forgetOldWaysBack(stateDir: string, now: number): Promise<void> {
  const counts = new Map<string, number>();
  for (const { id, workspace, keptAt } of waysBack(stateDir)) {
    const count = (counts.get(workspace) ?? 0) + 1;
    counts.set(workspace, count);
    if (count > maxOfWorkspace || now - keptAt > maxAgeMs) await forgetCommit(stateDir, id);
  }
}
