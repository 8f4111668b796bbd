/**
 * Whether git's settings differ only by new branches that track one of a remote that was there before, as `git push -u` notes it,
 * and by the form of Git LFS' data, as each `git lfs` notes it: that names no program, and no other address.
 */
export function onlyTracks(before: string, after: string): boolean {
  if (!after.startsWith(before) || (before !== "" && !before.endsWith("\n"))) return false;
  const added = after.slice(before.length).replace(/(?<=^|\n)\[lfs\]\n\trepositoryformatversion = 0\n/, "");
  if (added === "") return after !== before;
  if (!/^(?:\[branch "[^"\\\n]+"\]\n\tremote = [\w./-]+\n\tmerge = refs\/heads\/[\w./-]+\n)+$/.test(added))
    return false;
  const names = (text: string, kind: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^\\s*\\[${kind} "([^"\\n]*)"\\]`, "gm"))].map(([, name = ""]) => name);
  const remotes = names(before, "remote");
  const branches = names(before, "branch");
  const isKnown = [...added.matchAll(/\tremote = (.*)/g)].every(([, remote = ""]) => remotes.includes(remote));
  return isKnown && names(added, "branch").every((branch) => !branches.includes(branch));
}
