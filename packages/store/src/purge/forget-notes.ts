import { changeNotes, dropNotesHistory, notedCommits, noteOf, notesRef } from "@gennai/git/git-notes";
import { readObjects } from "@gennai/git/read-objects";
import { git } from "@gennai/git/run/run-git";
import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";
import type { StoreDatabase } from "../database/database.ts";
import { textOf } from "../database/row.ts";
import { isSignedHere } from "../ledger/ledger-key.ts";

/** The parts of a note that identify its records and signing keys, whatever version wrote the rest. */
const ours = z.object({
  metadata: z.object({
    "dev.gennai": z.object({ key_id: z.string(), writes: z.array(z.object({ record_id: z.string() })) }),
  }),
});

/** What is to be gone. */
export interface ForgottenRecords {
  readonly ids: ReadonlySet<string>;
  /** Whether a key of this machine signed: another ledger may contain the same record id. */
  readonly isOurs: (record: { readonly keyId: string }) => boolean;
}

/**
 * Removes records signed by our keys from a repository's notes, and from the notes' own history, so that none of their
 * references or reflogs leads to them; git's garbage collection does the rest. Copies in other references and elsewhere stay.
 * Without a repository there are none. Rejects with `StoreError` if git refuses. @returns number of changed notes
 */
async function forgetNotes(directory: string, { ids, isOurs }: ForgottenRecords): Promise<number> {
  if (ids.size === 0 || !(await hasNotes(directory))) return 0;
  const isGone = (line: string): boolean => {
    // Most lines name none of them, and need not be parsed.
    if (!line.includes('"dev.gennai"')) return false;
    const { data } = ours.safeParse(parsedJson(line));
    const said = data?.metadata["dev.gennai"];
    return (
      said !== undefined && isOurs({ keyId: said.key_id }) && said.writes.some((write) => ids.has(write.record_id))
    );
  };
  let count = 0;
  await changeNotes(directory, async () => {
    const changed = new Map<string, string>();
    for (const commit of await notedCommits(directory)) {
      const lines = (await noteOf(directory, commit)).split("\n").filter((line) => line !== "");
      const kept = lines.filter((line) => !isGone(line));
      if (kept.length < lines.length) changed.set(commit, kept.length === 0 ? "" : [...kept, ""].join("\n"));
    }
    count = changed.size;
    return changed;
  });
  if (await isInHistory(directory, isGone)) await dropNotesHistory(directory);
  return count;
}

async function hasNotes(directory: string): Promise<boolean> {
  const asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", notesRef];
  const [{ code }, reflog] = await Promise.all([
    git(asked, { directory }).catch(() => ({ code: 1 })),
    reflogOf(directory).catch(() => []),
  ]);
  return code === 0 || reflog.length > 0;
}

/** Commits in the reflog of the notes' reference. */
async function reflogOf(directory: string): Promise<readonly string[]> {
  const { code, stdout } = await git(["reflog", "show", "--format=%H", notesRef, "--"], { directory });
  return code === 0 ? stdout.split("\n").filter((id) => id !== "") : [];
}

/** Whether an earlier version of a note has such a line. */
async function isInHistory(directory: string, isGone: (line: string) => boolean): Promise<boolean> {
  const tip = await git(["rev-parse", "--verify", "--quiet", "--end-of-options", notesRef], { directory });
  const starts = [...(tip.code === 0 ? [tip.stdout.trim()] : []), ...(await reflogOf(directory))];
  if (starts.length === 0) return false;
  const walk = ["rev-list", "--objects", "--no-object-names", "--stdin"];
  const { stdout } = await git(walk, { directory, input: `${starts.join("\n")}\n` });
  let found = false;
  await readObjects(
    directory,
    stdout.split("\n").filter((id) => id !== ""),
    (_, bytes) => {
      found ||= bytes.toString("utf8").split("\n").some(isGone);
      return found;
    },
  );
  return found;
}

const purgedSchema = z.object({ id: z.string(), metadata: z.object({ purged: z.literal(true) }) });

/**
 * Takes what reports purged writes from the git notes of a workspace, whenever they were purged. Rejects with `StoreError` as git
 * refuses. @param of.workspace its number @returns how many notes changed
 */
export async function forgetPurgedNotes(
  { database, stateDir }: { readonly database: StoreDatabase; readonly stateDir: string },
  of: { readonly workspace: number; readonly workspaceRoot: string },
): Promise<number> {
  const ids = new Set<string>();
  // The records themselves stay in the chain, and only they have the ids that notes name.
  const rows = database.prepare("SELECT line FROM ledger WHERE workspace = ?").iterate(of.workspace);
  for (const row of rows) {
    const line = textOf(row, "line");
    if (!line.includes('"purged":true')) continue;
    const { data } = purgedSchema.safeParse(JSON.parse(line));
    if (data !== undefined) ids.add(data.id);
  }
  if (ids.size === 0) return 0;
  // Also the keys that signed before the one of today.
  return forgetNotes(of.workspaceRoot, { ids, isOurs: isSignedHere(stateDir) });
}
