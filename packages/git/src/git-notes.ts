import { ExpectedError } from "@gennai/machine/expected-error";
import { readObjects } from "./read-objects.ts";
import { git } from "./run/run-git.ts";

/** Where notes are: a ref of their own, so that no other notes are touched. */
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

/** Maximum retries if others changed the notes meanwhile. */
const mostTries = 8;

/**
 * Changes notes of commits atomically. If others wrote notes meanwhile, it starts again from these, so nothing of theirs is
 * lost. Rejects with `NotesRefused` if git refuses.
 *
 * @param changed maps the present notes to the changed ones; an empty text removes a note
 */
export async function changeNotes(
  directory: string,
  changed: () => Promise<ReadonlyMap<string, string>>,
): Promise<void> {
  await written(directory, async (tip) => {
    // After the tip: what comes in between moves the reference, and the write is refused.
    const notes = await changed();
    if (notes.size === 0) return undefined;
    const input = importOf(notes, tip);
    return git(["fast-import", "--quiet", "--done"], { directory, writes: "working-tree", input });
  });
}

/**
 * Keeps the notes as they are now, and nothing of how they were before, also not in the reflog. A reference without notes goes. What
 * others write meanwhile stays. Rejects with `NotesRefused` as git refuses.
 */
export async function dropNotesHistory(directory: string): Promise<void> {
  const place = { directory, writes: "working-tree" } as const;
  await written(directory, async (tip) => {
    if (tip === undefined) return undefined;
    const tree = (await git(["rev-parse", "--verify", `${tip}^{tree}`], { directory })).stdout.trim();
    const { stdout: entries } = await git(["ls-tree", tree], { directory });
    if (entries === "") return git(["update-ref", "--no-deref", "-d", notesRef, tip], place);
    const made = await git([...nobody, "commit-tree", "-m", "Notes kept by gennai", tree], place);
    if (made.code !== 0) return made;
    // Only when nobody moved the reference meanwhile.
    return git(["update-ref", "--no-deref", notesRef, made.stdout.trim(), tip], place);
  });
  const { code, stderr } = await git(["reflog", "expire", "--expire=all", "--expire-unreachable=all", notesRef], place);
  if (code !== 0 && (await tipOf(directory)) !== undefined) throw refused(stderr);
}

/** Git did not take notes; nothing was changed. */
class NotesRefused extends ExpectedError {
  override readonly name = "NotesRefused";
  readonly code = "busy";
  readonly isWrongInput = false;
}

/** Tries to write until nobody else wrote meanwhile. @param write from the reference's commit; undefined: there is nothing to write */
async function written(
  directory: string,
  write: (tip: string | undefined) => Promise<{ readonly code: number; readonly stderr: string } | undefined>,
): Promise<void> {
  // Written through, it would be the other one that moves: a branch, maybe.
  const other = await git(["symbolic-ref", "--quiet", notesRef], { directory });
  if (other.code === 0) {
    const next = `Look at it, and take it away: git symbolic-ref --delete ${notesRef}`;
    throw new NotesRefused(`${notesRef} stands for ${other.stdout.trim()}, so nothing was written. ${next}`);
  }
  let complaint = "";
  for (let tried = 0; tried < mostTries; tried += 1) {
    const done = await write(await tipOf(directory));
    if (done === undefined || done.code === 0) return;
    complaint = done.stderr;
  }
  throw refused(complaint);
}

function refused(complaint: string): NotesRefused {
  return new NotesRefused(`git did not take the notes: ${complaint.trim()}. Try again.`);
}

/** Whose a commit of notes is matters to nobody, and git may not know who its user is: what is in a note is signed. */
const nobody = ["-c", "user.name=gennai", "-c", "user.email=gennai@localhost"];

async function tipOf(directory: string): Promise<string | undefined> {
  const { code, stdout } = await git(["rev-parse", "--verify", "--quiet", "--end-of-options", notesRef], { directory });
  return code === 0 ? stdout.trim() : undefined;
}

/** One commit on the tip. git moves the reference to it only from a commit that it contains: from the tip, not from a later one. */
function importOf(notes: ReadonlyMap<string, string>, tip: string | undefined): string {
  return [
    `commit ${notesRef}`,
    // As `nobody` says.
    `committer gennai <gennai@localhost> ${Math.floor(Date.now() / 1000)} +0000`,
    dataOf("Notes changed by gennai"),
    ...(tip === undefined ? [] : [`from ${tip}`]),
    ...[...notes].map(([commit, text]) =>
      text === "" ? `N ${"0".repeat(commit.length)} ${commit}` : `N inline ${commit}\n${dataOf(text)}`,
    ),
    "done",
    "",
  ].join("\n");
}

function dataOf(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

/** A commit's note goes with it to the commit in its place. */
export async function copyNote(directory: string, from: string, to: string): Promise<void> {
  await changeNotes(directory, async () => {
    const note = await noteOf(directory, from);
    return new Map(note === "" ? [] : [[to, note]]);
  });
}
