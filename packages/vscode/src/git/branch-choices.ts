import { plural } from "@gennai/protocol/plural";
import type { RepositoryState } from "./git-port.ts";

/** Where a session can work. */
export type BranchChoice =
  | { readonly type: "create"; readonly branch: string }
  | { readonly type: "switch"; readonly branch: string }
  | { readonly type: "stay"; readonly branch: string }
  | { readonly type: "init"; readonly branch: string }
  | { readonly type: "proposal" }
  /** Stays on the present branch, which the server protects: nothing can be written there. */
  | { readonly type: "look" }
  | { readonly type: "open-scm" | "open-folder" };

export interface OfferedChoice {
  readonly choice: BranchChoice;
  readonly label: string;
  readonly detail: string;
}

/** A question to the user, the best answer first. */
export interface BranchQuestion {
  readonly title: string;
  readonly choices: readonly OfferedChoice[];
}

export type BranchSituation =
  | { readonly type: "no-git"; readonly reason: string }
  | { readonly type: "no-repository" | "read-only" }
  | {
      readonly type: "repository";
      readonly state: RepositoryState;
      readonly wantedExists: boolean;
      /** What protects the current branch, according to the server; undefined: nothing. */
      readonly protectedBy: string | undefined;
    };

/** The choices of Branch Mode. A repository is changed only after the user chose one of them. */
export function branchQuestion(situation: BranchSituation, wanted: string): BranchQuestion {
  switch (situation.type) {
    case "no-git":
      return { title: `Branch Mode needs git: ${situation.reason}`, choices: [proposal, look] };
    case "no-repository":
      return {
        title: "This folder is not a git repository, and Branch Mode works on a branch.",
        choices: [
          {
            choice: { type: "init", branch: wanted },
            label: `Run git init, then work on ${wanted}`,
            detail: "Makes a repository of this folder. No file is changed.",
          },
          proposal,
          look,
        ],
      };
    case "read-only":
      return {
        title: "This folder is read-only: no branch can be made in it.",
        choices: [proposal, open("folder", "Open another folder")],
      };
    case "repository":
      return repositoryQuestion(situation, wanted);
  }
}

/** True for a branch of the agent, by Gennai's naming. */
export function isAgentBranch(branch: string): boolean {
  return branch.startsWith("ai-agent/");
}

function repositoryQuestion(
  { state, wantedExists, protectedBy }: Extract<BranchSituation, { type: "repository" }>,
  wanted: string,
): BranchQuestion {
  const { branch, changedFiles, conflicts } = state;
  if (conflicts > 0) {
    return {
      title: `A merge is not finished: ${plural(conflicts, "file")} with conflicts. No branch can be switched until it is.`,
      choices: [open("scm", "Finish the merge in Source Control"), proposal],
    };
  }
  const carried =
    changedFiles === 0 ? "" : ` What you have not committed comes along: ${plural(changedFiles, "file")}.`;
  const move: OfferedChoice = wantedExists
    ? {
        choice: { type: "switch", branch: wanted },
        label: `Switch to ${wanted}`,
        detail: `It exists already.${carried}`,
      }
    : {
        choice: { type: "create", branch: wanted },
        label: `Create ${wanted}`,
        detail: `From ${branch ?? "the current commit"}.${carried}`,
      };
  const isFree = branch !== undefined && protectedBy === undefined && !isCommonlyProtected(branch);
  const stay: OfferedChoice[] = isFree
    ? [
        {
          choice: { type: "stay", branch },
          label: `Stay on ${branch}`,
          detail: "The agent changes files on this branch.",
        },
      ]
    : [];
  const commitFirst =
    changedFiles === 0 ? [] : [open("scm", `Commit ${plural(changedFiles, "file")} first, in Source Control`)];
  const where = branch === undefined ? "HEAD is on no branch" : `You are on ${branch}`;
  const dirty = changedFiles === 0 ? "" : ` with ${plural(changedFiles, "file")} not committed`;
  const first = branch !== undefined && isAgentBranch(branch) ? [...stay, move] : [move, ...stay];
  const choices = [...first, ...commitFirst, proposal, ...(isFree ? [] : [look])];
  return { title: `${where}${dirty}. Where should the agent work?`, choices };
}

/** True for branches that every server protects; the server says which others are protected. */
function isCommonlyProtected(branch: string): boolean {
  return /^(?:main|master|develop|release\/.*)$/i.test(branch);
}

const proposal: OfferedChoice = {
  choice: { type: "proposal" },
  label: "Use Proposal Mode",
  detail: "The agent changes nothing. It proposes, and you apply what you keep.",
};

const look: OfferedChoice = {
  choice: { type: "look" },
  label: "Only look, write nothing",
  detail: "For questions about the code: every change is refused.",
};

function open(what: "scm" | "folder", label: string): OfferedChoice {
  return { choice: { type: `open-${what}` }, label, detail: "Nothing is started now." };
}
