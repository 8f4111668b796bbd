import { UnsafeRepository } from "@gennai/git/run/confirmed-repository";
import { git } from "@gennai/git/run/run-git";

/**
 * Which refs a push would take commits away from, in sentences, as far as this repository has the commits. Undefined if there is
 * none.
 *
 * @param what a push, in the words of `pushedRefs`
 */
export async function droppedCommits(
  what: string,
  workTree: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<string | undefined> {
  const moves = [...what.matchAll(/push ([0-9a-f]+) to (\S+) \(now ([0-9a-f]+)\)/g)];
  const remarks = await Promise.all(
    moves.map(async ([, to = "", name = "", from = ""]) => {
      const code = await isAncestor(from, to, { directory: workTree, signal });
      if (code === 0) return [];
      return [
        code === 1
          ? `It removes commits from ${name} there.`
          : `Whether it removes commits from ${name} there is not known.`,
      ];
    }),
  );
  const all = remarks.flat();
  return all.length === 0 ? undefined : all.join(" ");
}

/** Exit code of git: 0, 1, or another one where it does not know. */
async function isAncestor(
  from: string,
  to: string,
  options: { readonly directory: string; readonly signal: AbortSignal },
): Promise<number> {
  try {
    return (await git(["--no-replace-objects", "merge-base", "--is-ancestor", from, to], options)).code;
  } catch (error) {
    if (error instanceof UnsafeRepository) return -1;
    throw error;
  }
}
