import { expect, test } from "vitest";
import type { GitChange } from "#effect";
import { createGitChangesPolicy } from "#policies/git-changes";
import { decide } from "./effects.ts";

const policy = createGitChangesPolicy({
  protectedBy: (branch) => (branch === "main" ? "main" : undefined),
  branch: () => "work",
});

const [one, other] = ["1".repeat(40), "2".repeat(40)];

function change(what: GitChange["what"], name: string, more: Partial<GitChange> = {}): GitChange {
  return { type: "git", what, name, from: one, to: other, agreed: false, ...more };
}

test.each<[string, GitChange, string]>([
  ["a commit on the branch that HEAD is on", change("ref", "refs/heads/work"), "allow"],
  ["the branch that HEAD is on goes", change("ref", "refs/heads/work", { to: undefined }), "ask git-changes/ref"],
  ["a new branch", change("ref", "refs/heads/new", { from: undefined }), "allow"],
  ["another branch moves", change("ref", "refs/heads/other"), "ask git-changes/ref"],
  ["another branch goes", change("ref", "refs/heads/other", { to: undefined }), "ask git-changes/ref"],
  ["the same, agreed to", change("ref", "refs/heads/other", { to: undefined, agreed: true }), "allow"],
  ["a protected branch moves", change("ref", "refs/heads/main"), "deny git-changes/protected-branch"],
  [
    "a protected branch, agreed to",
    change("ref", "refs/heads/main", { agreed: true }),
    "deny git-changes/protected-branch",
  ],
  ["a tag", change("ref", "refs/tags/v1", { from: undefined }), "ask git-changes/ref"],
  ["notes", change("ref", "refs/notes/commits"), "ask git-changes/ref"],
  ["what the remote has", change("ref", "refs/remotes/origin/main"), "ask git-changes/ref"],
  ["a stash", change("ref", "refs/stash"), "allow"],
  ["HEAD on another branch", change("head", "HEAD", { to: "ref: refs/heads/new" }), "allow"],
  [
    "HEAD on a protected branch",
    change("head", "HEAD", { to: "ref: refs/heads/main" }),
    "deny git-changes/protected-branch",
  ],
  ["HEAD on no branch", change("head", "HEAD"), "ask git-changes/head"],
  ["a log that gets shorter", change("reflog", "HEAD"), "ask git-changes/reflog"],
  ["git's settings", change("control", ".git/config"), "ask git-changes/settings"],
  ["another work tree", change("control", ".git/worktrees/x/gitdir"), "ask git-changes/settings"],
  ["where the history ends", change("control", ".git/shallow"), "ask git-changes/settings"],
  ["a hook", change("control", ".git/hooks/post-checkout"), "deny git-changes/control"],
  ["objects of another repository", change("control", ".git/objects/info/alternates"), "deny git-changes/control"],
  ["attributes", change("control", ".git/info/attributes"), "deny git-changes/control"],
  ["a directory in the place of git's", change("control", ".git/commondir"), "deny git-changes/control"],
  ["a merge that nobody sees", change("operation", ".git/MERGE_HEAD"), "ask git-changes/operation"],
  ["a merge that a person asked for", change("operation", ".git/MERGE_HEAD", { agreed: true }), "allow"],
  ["what nobody can read", change("unreadable", ".git/packed-refs"), "ask git-changes/unreadable"],
  ["a HEAD that nobody can read", change("unreadable", ".git/HEAD"), "deny git-changes/head-gone"],
  [
    "a remote's HEAD that nobody can read",
    change("unreadable", ".git/refs/remotes/o/HEAD"),
    "ask git-changes/unreadable",
  ],
  ["an index that nobody can read", change("unreadable", ".git/worktrees/w/index"), "deny git-changes/index"],
])("%s", async (_name, effect, expected) => {
  const verdict = await decide(policy, effect);
  expect(verdict.type === "allow" ? "allow" : `${verdict.type} ${verdict.finding.rule}`).toBe(expected);
});
