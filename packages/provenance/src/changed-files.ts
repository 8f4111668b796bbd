import { readObjects } from "@gennai/git/read-objects";
import { git } from "@gennai/git/run/run-git";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { linesOf } from "./matching/text-lines.ts";

/** Larger files are not looked into, in bytes. */
const maxBytes = 1024 * 1024;
const mostFiles = 5_000;

/** A file that differs between two commits. */
export interface ChangedFile {
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  /** Text in the later commit; undefined if the file is gone, no text, or larger than 1 MiB. */
  readonly text: string | undefined;
  /** 1-based lines that are not in the earlier commit; `end` is inclusive. */
  readonly added: readonly { readonly start: number; readonly end: number }[];
  readonly removedLines: number;
}

/** The commit that a name refers to; undefined if there is none. */
export async function commitOf(directory: string, name: string): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  const { code, stdout } = await git(args, { directory }).catch(() => ({ code: 1, stdout: "" }));
  const id = stdout.trim();
  return code === 0 && /^[0-9a-f]{40,64}$/.test(id) ? id : undefined;
}

/** The first parent; undefined for a first commit. */
export function parentOf(directory: string, commit: string): Promise<string | undefined> {
  return commitOf(directory, `${commit}^`);
}

/**
 * Files that differ, by path. `from` undefined: everything is new. Throws `RangeError` when there are too many.
 */
export async function changedFiles(
  directory: string,
  from: string | undefined,
  to: string,
): Promise<readonly ChangedFile[]> {
  const options = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-commit-id"];
  const trees = from === undefined ? ["--root", to] : [from, to];
  const { code, stdout, stderr } = await git(["diff-tree", ...options, ...trees], { directory });
  if (code !== 0) throw new Error(`git cannot compare ${from ?? "nothing"} with ${to}: ${stderr.trim()}`);
  const words = stdout.split("\0");
  const entries: { path: string; before: string; after: string }[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [oldMode = "", newMode = "", before = "", after = ""] = (words[at] ?? "").replace(/^:/, "").split(" ");
    // A link or a submodule has no lines.
    if (![oldMode, newMode].every((mode) => mode.startsWith("100") || /^0+$/.test(mode))) continue;
    entries.push({ path: words[at + 1] ?? "", before, after });
    if (entries.length > mostFiles) throw new RangeError(`More than ${mostFiles} files differ.`);
  }
  const ids = entries.flatMap(({ before, after }) => [before, after]).filter((id) => !nothing.test(id));
  const texts = new Map<string, string | undefined>();
  await readObjects(directory, ids, (at, bytes) => {
    const isText = bytes.length <= maxBytes && !bytes.includes(0);
    texts.set(ids[at] ?? "", isText ? bytes.toString("utf8") : undefined);
    return false;
  });
  return entries.map(({ path, before, after }) => changed(path, texts, before, after));
}

const nothing = /^0+$/;

function changed(
  path: string,
  texts: ReadonlyMap<string, string | undefined>,
  before: string,
  after: string,
): ChangedFile {
  const kind = nothing.test(before) ? "added" : nothing.test(after) ? "deleted" : "changed";
  const text = texts.get(after);
  const old = texts.get(before);
  const isLost = (kind !== "deleted" && text === undefined) || (kind !== "added" && old === undefined);
  if (isLost) return { path, kind, text: undefined, added: [], removedLines: 0 };
  const { edits } = diffLines(normal(old ?? ""), normal(text ?? ""), { timeoutMs: 1_000 });
  return {
    path,
    kind,
    text,
    added: edits
      .filter(({ newCount }) => newCount > 0)
      .map(({ newStart, newCount }) => ({ start: newStart, end: newStart + newCount - 1 })),
    removedLines: edits.reduce((sum, { oldCount }) => sum + oldCount, 0),
  };
}

/** Converts line ends to one kind, as lines are counted elsewhere here. */
function normal(text: string): string {
  return linesOf(text)
    .map((line) => `${line}\n`)
    .join("");
}
