import { git } from "@gennai/machine/git/run-git";
import { StoreError } from "../../database/store-error.ts";
import { readObjects } from "../read-objects.ts";

/** Where notes lie: a place of their own, so that nobody's other notes are touched. */
export const notesRef = "refs/notes/agent-trace";

/** Commits before these are not asked for notes. */
const mostCommits = 20_000;
const maxNoteBytes = 4 * 1024 * 1024;

export interface CommitNote {
  readonly commit: string;
  readonly text: string;
}

/** Notes of a commit's history, oldest first. */
export async function notesOf(directory: string, commit = "HEAD"): Promise<readonly CommitNote[]> {
  const list = await git(["notes", `--ref=${notesRef}`, "list"], { directory });
  if (list.code !== 0) return [];
  const blobs = new Map<string, string>();
  for (const line of list.stdout.split("\n")) {
    const [, blob, noted] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64})$/.exec(line) ?? [];
    if (blob !== undefined && noted !== undefined) blobs.set(noted, blob);
  }
  if (blobs.size === 0) return [];
  const walk = ["rev-list", "--topo-order", `--max-count=${mostCommits}`, "--end-of-options", commit, "--"];
  const { stdout } = await git(walk, { directory });
  const noted = stdout
    .split("\n")
    .filter((id) => blobs.has(id))
    .reverse();
  const found: CommitNote[] = [];
  await readObjects(
    directory,
    noted.map((id) => blobs.get(id) ?? ""),
    (at, bytes) => {
      if (bytes.length <= maxNoteBytes) found.push({ commit: noted[at] ?? "", text: bytes.toString("utf8") });
      return false;
    },
  );
  return found;
}

/** Without git there are no notes. */
const none = { code: 1, stdout: "" };

/** Every commit that has a note, whatever branch it is on. */
export async function notedCommits(directory: string): Promise<readonly string[]> {
  const { code, stdout } = await git(["notes", `--ref=${notesRef}`, "list"], { directory }).catch(() => none);
  if (code !== 0) return [];
  return stdout.split("\n").flatMap((line) => /^[0-9a-f]{40,64} ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? []);
}

export async function noteOf(directory: string, commit: string): Promise<string> {
  const { code, stdout } = await git(["notes", `--ref=${notesRef}`, "show", commit], { directory });
  return code === 0 ? stdout : "";
}

/** Puts a note in place of the one that is there; an empty text takes it away. Rejects with `StoreError` as git refuses. */
export async function putNote(directory: string, commit: string, text: string): Promise<void> {
  const how = text === "" ? ["remove", "--ignore-missing", commit] : ["add", "--force", "--file=-", commit];
  // Whose the commit of the notes is matters to nobody: what is in a note is signed.
  const as = ["-c", "user.name=gennai", "-c", "user.email=gennai@localhost"];
  const { code, stderr } = await git([...as, "notes", `--ref=${notesRef}`, ...how], {
    directory,
    writes: "working-tree",
    input: text,
  });
  if (code !== 0) {
    throw new StoreError("busy", `git did not take the note of ${commit.slice(0, 12)}: ${stderr.trim()}. Try again.`);
  }
}

/** A commit's note goes with it to the commit in its place. */
export async function copyNote(directory: string, from: string, to: string): Promise<void> {
  const note = await noteOf(directory, from);
  if (note !== "") await putNote(directory, to, note);
}
