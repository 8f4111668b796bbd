import { confirmedRepository } from "./run/confirmed-repository.ts";
import { readWhole } from "./run/read-whole.ts";
import { startGit } from "./run/start-git.ts";

/** One path that a commit changes. */
export interface CommittedPath {
  /** From the top of the work tree. */
  readonly path: string;
  /** Octal mode and object afterwards; undefined if the path is removed. */
  readonly after: { readonly mode: string; readonly object: string } | undefined;
}

/**
 * What those commits change that no ref of the repository leads to yet, each against its parents. They may be in directories of
 * objects besides the repository's own. Rejects if the changes cannot be determined.
 *
 * @param directory real path in the repository
 * @param options.tips names of objects, hex
 * @param options.objects absolute paths of further directories of objects
 */
export async function newCommits(
  directory: string,
  {
    tips,
    objects,
    home,
  }: { readonly tips: readonly string[]; readonly objects: readonly string[]; readonly home: string },
): Promise<readonly CommittedPath[]> {
  if (tips.length === 0) return [];
  const repository = confirmedRepository(directory, home);
  const top = repository?.workTree ?? directory;
  const args = [
    "log",
    "--no-show-signature",
    "--format=",
    "--raw",
    "-z",
    "-m",
    "--root",
    "--no-renames",
    "--no-abbrev",
  ];
  const running = await startGit(
    [...args, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", ...tips, "--not", "--all", "--"],
    {
      cwd: directory,
      workTree: repository?.workTree,
      environment: {
        GIT_OPTIONAL_LOCKS: "0",
        GIT_NO_REPLACE_OBJECTS: "1",
        GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.map((path) => JSON.stringify(path)).join(":"),
      },
      readable: [top, ...(repository?.data ?? []), ...objects],
      writable: [],
      repository: "of-others",
    },
  );
  running.stdin.end();
  const { code, output, errors } = await readWhole(running);
  if (code !== 0) throw new Error(`git log failed: ${errors.slice(0, 300).trim()}`);
  return [...rawChanges(output.toString("utf8"))];
}

/** `:MODE MODE OBJECT OBJECT STATUS`, NUL, path, NUL. */
function* rawChanges(output: string): Generator<CommittedPath> {
  const words = output.split("\0");
  for (let at = 0; at + 1 < words.length; at += 1) {
    const [, mode = "", object = ""] = /^:\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z]$/.exec(words[at] ?? "") ?? [];
    if (mode === "") continue;
    at += 1;
    yield { path: words[at] ?? "", after: mode === "000000" ? undefined : { mode, object } };
  }
}
