import { isInside } from "../play/inside.ts";
import { blobs, git } from "./git-objects.ts";

const maxFiles = 4_000;
const maxFileBytes = 1_000_000;

/** The text files of a repository's newest commit, by path, without those whose path leads out of it; undefined for a repository that is too large to play searches in. */
export async function recordedTree(gitDir: string): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const listing = await git(gitDir, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
  const entries = listing
    .toString("utf8")
    .split("\0")
    .flatMap((entry) => {
      const [about = "", path = ""] = entry.split("\t");
      const [mode = "", , id = ""] = about.split(" ");
      return mode.startsWith("100") && isInside(path) ? [{ path, id }] : [];
    });
  if (entries.length > maxFiles) return undefined;
  const contents = await blobs(
    gitDir,
    entries.map(({ id }) => id),
  );
  return new Map(
    entries.flatMap(({ path, id }) => {
      const bytes = contents.get(id);
      return bytes === undefined || bytes.length > maxFileBytes || bytes.includes(0) ? [] : [[path, bytes] as const];
    }),
  );
}
