import { isInside } from "../play/inside.ts";
import { spread } from "../play/spread.ts";
import { blobs, git } from "./git-objects.ts";

/** A commit's change of one file; undefined: the file does not exist. */
export interface RecordedChange {
  readonly path: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
}

export interface RecordedCommit {
  readonly id: string;
  readonly changes: readonly RecordedChange[];
}

const maxFiles = 8;
const maxFileBytes = 200_000;
const looksAt = 5_000;
const nothing = /^0+$/;

/** As many commits of a repository as are wanted, from all of its history: small ones, without merges, links, modules, and paths that lead out. */
export async function recordedCommits(gitDir: string, count: number): Promise<readonly RecordedCommit[]> {
  const format = ["--format=commit %H", "--raw", "--no-abbrev", "--no-renames", "--no-merges", "-z"];
  const log = await git(gitDir, ["log", ...format, `--max-count=${looksAt}`, "HEAD"]);
  const commits = parsedLog(log.toString("utf8")).filter(({ files }) => files.length > 0 && files.length <= maxFiles);
  // More than are wanted: some hold what is too large.
  const chosen = spread(commits, count * 2);
  const contents = await blobs(
    gitDir,
    chosen
      .flatMap(({ files }) => files.flatMap(({ before, after }) => [before, after]))
      .filter((id) => !nothing.test(id)),
  );
  const whole = chosen.flatMap(({ id, files }): RecordedCommit[] => {
    const changes = files.map(({ path, before, after }) => ({
      path,
      before: contents.get(before),
      after: contents.get(after),
    }));
    const isWhole = files.every(({ before, after }) =>
      [before, after].every((blob) => nothing.test(blob) || contents.has(blob)),
    );
    const fits = changes.every(
      ({ before, after }) => Math.max(before?.length ?? 0, after?.length ?? 0) <= maxFileBytes,
    );
    return isWhole && fits ? [{ id, changes }] : [];
  });
  return spread(whole, count);
}

interface RawCommit {
  readonly id: string;
  readonly files: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

/** `commit ID NUL`, then `:MODE MODE ID ID LETTER NUL PATH NUL` for each file. */
function parsedLog(log: string): readonly RawCommit[] {
  const commits: { id: string; files: { path: string; before: string; after: string }[]; isPlain: boolean }[] = [];
  const words = log.split("\0");
  for (let at = 0; at < words.length; at += 1) {
    const word = (words[at] ?? "").trim();
    if (word.startsWith("commit ")) commits.push({ id: word.slice(7), files: [], isPlain: true });
    const commit = commits.at(-1);
    const [oldMode = "", newMode = "", before = "", after = ""] = word.startsWith(":") ? word.slice(1).split(" ") : [];
    if (commit === undefined || before === "") continue;
    at += 1;
    const path = words[at] ?? "";
    commit.files.push({ path, before, after });
    // Links, modules, and files whose mode alone changed.
    commit.isPlain &&=
      isInside(path) &&
      [oldMode, newMode].every((mode) => mode.startsWith("100") || nothing.test(mode)) &&
      before !== after;
  }
  return commits.filter(({ isPlain }) => isPlain);
}
