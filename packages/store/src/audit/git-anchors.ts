import { git } from "@gennai/git/run/run-git";
import type { KeptNote } from "@gennai/governance/ledger/anchor/check-anchors";
import { notesIn } from "@gennai/governance/ledger/anchor/signed-note";
import { StoreError } from "../database/store-error.ts";

/** Below `refs/notes/`. */
const notesRef = "gennai-anchors";
const where = `git notes, refs/notes/${notesRef}`;
/** Most notes that are read. */
const mostNotes = 500;

/** The author of the notes' commit does not matter, because notes are signed, and git may not know its user. */
const nobody = ["-c", "user.name=gennai", "-c", "user.email=gennai@localhost"];

/** The content of a repository's git notes, no matter who added it. Empty without a repository. */
export async function readGitAnchors(directory: string): Promise<readonly KeptNote[]> {
  const asked = (args: readonly string[]) => git(args, { directory }).catch(() => ({ code: 1, stdout: "" }));
  const listed = await asked(["notes", `--ref=${notesRef}`, "list"]);
  if (listed.code !== 0) return [];
  const ids = listed.stdout.split("\n").flatMap((line) => /^([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []);
  if (ids.length === 0) return [];
  const { code, stdout } = await asked(["show", "--no-textconv", ...ids.slice(-mostNotes)]);
  return code === 0 ? notesIn(stdout).map((note) => ({ note, where })) : [];
}

/** Adds to the note of the present commit. Rejects with `StoreError` `bad_anchor`. */
export async function addGitAnchor(directory: string, note: string): Promise<void> {
  const append = [...nobody, "notes", `--ref=${notesRef}`, "append", "-m", note, "HEAD"];
  const { code, stderr } = await git(append, { directory, writes: "working-tree" }).catch((error: unknown) => {
    throw new StoreError("bad_anchor", "git could not be run here.", { cause: error });
  });
  if (code !== 0) throw new StoreError("bad_anchor", `git did not take the note: ${stderr.trim()}`);
}
