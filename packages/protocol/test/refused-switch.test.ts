import { expect, test } from "vitest";
import { afterRefusedSwitch } from "#refused-switch";

// As git 2 says it, in English.
test.each([
  ["error: Your local changes to the following files would be overwritten by checkout:\n\ta.txt", "Commit or stash"],
  ["error: The following untracked working tree files would be overwritten by checkout:\n\ta", "Commit or stash"],
  ["fatal: Unable to create '/w/.git/HEAD.lock': Permission denied", "Make git's directory writable"],
  [
    "fatal: cannot lock ref 'HEAD': Unable to create '/w/.git/HEAD.lock': Read-only file system",
    "Make git's directory",
  ],
  [
    "fatal: cannot lock ref 'refs/heads/a/x': unable to create directory for .git/refs/heads/a/x",
    "Make git's directory",
  ],
  ["error: unable to write file a.txt: No space left on device", "Make room"],
  ['fatal: cannot switch branch while merging\nConsider "git merge --quit" or "git worktree add".', "Finish or abort"],
  [
    "fatal: cannot lock ref 'refs/heads/a/x': 'refs/heads/a' exists; cannot create 'refs/heads/a/x'",
    "Rename the branch",
  ],
  ["fatal: a reference is broken", "Correct what git names"],
])("%s", (said, next) => {
  expect(afterRefusedSwitch(said)).toMatch(new RegExp(`^${next}.* and try again, or use Proposal Mode\\.$`));
});
