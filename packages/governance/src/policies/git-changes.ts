import type { GitChange } from "../effect.ts";
import type { Policy } from "../policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../verdict.ts";
import { branchOf } from "./branch-moves.ts";

/**
 * A staged command's changes of a repository. Ordinary: new commits on HEAD's branch, a new branch, switching to an unprotected
 * branch. Protected branches never move; settings that decide which programs git runs must not be changed in passing.
 *
 * @param options.protectedBy what protects the branch of this name; undefined if nothing does
 * @param options.branch HEAD's branch; undefined if detached
 */
export function createGitChangesPolicy(options: {
  readonly protectedBy: (branch: string) => string | undefined;
  readonly branch: () => string | undefined;
}): Policy {
  return {
    name: "git-changes",
    kind: "guard",
    decide({ analysis }) {
      const changes = analysis.effects.filter((effect) => effect.type === "git");
      if (changes.length === 0) return allow;
      const branch = options.branch();
      return strictest([allow, ...changes.map((change) => verdictOf(change, branch, options.protectedBy))]);
    },
  };
}

function verdictOf(
  change: GitChange,
  current: string | undefined,
  protectedBy: (branch: string) => string | undefined,
): Verdict {
  const { what, name, from, to, agreed } = change;
  switch (what) {
    case "ref": {
      const branch = branchOf(name);
      const protection = branch === undefined ? undefined : protectedBy(branch);
      if (branch !== undefined && protection !== undefined) return protectedBranch(branch, protection);
      const isOwn = branch !== undefined && (from === undefined || (branch === current && to !== undefined));
      if (agreed || name === "refs/stash" || isOwn) return allow;
      return asked("git-changes/ref", `It ${verb(from, to)} ${shownRef(name)}.`);
    }
    case "head": {
      const branch = branchOf(to);
      if (branch === undefined) return agreed ? allow : asked("git-changes/head", "It leaves HEAD on no branch.");
      const protection = protectedBy(branch);
      return protection === undefined ? allow : protectedBranch(branch, protection, "ends on it");
    }
    case "reflog":
      return agreed
        ? allow
        : asked("git-changes/reflog", `It shortens the log of ${shownRef(name)}, which is a way back.`);
    case "control":
      if (agreed) return allow;
      return settings.test(name)
        ? asked("git-changes/settings", `It changes git's own settings: ${name}.`)
        : deny({
            code: "control_file",
            rule: "git-changes/control",
            reason: `Security Policy Violation: ${name} in git's directory decides what git runs and where its data is. The agent does not change it.`,
            hint: "Ask the user to make this change.",
          });
    case "operation":
      return agreed ? allow : asked("git-changes/operation", `It leaves an operation of git's under way: ${name}.`);
    case "unreadable":
      if (/(?:^|\/)index$/.test(name)) return unjudgedIndex(name);
      if (/(?:^|\/)\.git\/HEAD$/.test(name)) return noHead(name);
      return asked("git-changes/unreadable", `It is not known what it did to the repository: ${name}.`);
  }
}

/** A person can judge them by what they say. */
const settings = /(?:^|\/)(?:config|config\.worktree|info\/exclude|shallow|worktrees(?:\/.*)?)$/;

function protectedBranch(branch: string, protection: string, what = "moves it"): Verdict {
  return deny({
    code: "protected_branch",
    rule: "git-changes/protected-branch",
    reason: `Branch ${branch} is protected (${protection}): no command of the agent ${what}.`,
    hint: "Work on a branch of your own.",
  });
}

function unjudgedIndex(name: string): Verdict {
  return deny({
    code: "control_file",
    rule: "git-changes/index",
    reason: `Nobody can judge what the command did to ${name}: git's index is split, sparse or damaged.`,
    hint: "Ask the user to set core.splitIndex and index.sparse to false: git then writes it whole.",
  });
}

function noHead(name: string): Verdict {
  return deny({
    code: "control_file",
    rule: "git-changes/head-gone",
    reason: `Security Policy Violation: without a ${name} that it can read, git finds no repository there.`,
    hint: "Leave HEAD on a branch.",
  });
}

function asked(rule: string, reason: string): Verdict {
  return ask({ code: "change_needs_confirmation", rule, reason });
}

function verb(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return "makes";
  return to === undefined ? "removes" : "moves";
}

function shownRef(name: string): string {
  return name.replace(/^refs\/(?:heads|remotes)\//, "").replace(/^refs\/tags\//, "the tag ");
}
