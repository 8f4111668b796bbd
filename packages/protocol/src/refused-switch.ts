/** What a person can do when git refuses to switch to a branch. @param said git's words, in English */
export function afterRefusedSwitch(said: string): string {
  for (const [words, next] of steps) {
    const [found, name = ""] = words.exec(said) ?? [];
    if (found !== undefined) return `${next.replaceAll("NAMED", name)} and try again, or use Proposal Mode.`;
  }
  return "Correct what git names and try again, or use Proposal Mode.";
}

const steps: readonly (readonly [RegExp, string])[] = [
  [/overwritten by checkout/, "Commit or stash your changes"],
  // Git's own advice, `--quit`, would throw away what is half done.
  [
    /cannot switch branch (?:while|in the middle of)[^]*?git (\S+) --quit/,
    "Finish or abort what git has under way (git NAMED --continue, git NAMED --abort)",
  ],
  [
    /'refs\/heads\/([^']+)' exists; cannot create/,
    "Rename the branch that has the place of others (git branch --move NAMED OTHER-NAME)",
  ],
  [/Permission denied|Read-only file system|unable to create directory for/, "Make git's directory writable"],
  [/No space left on device/, "Make room on the disk"],
];
