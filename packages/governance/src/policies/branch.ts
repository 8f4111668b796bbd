import { type Effect, type GitChange, isReadOnly } from "../effect.ts";
import { globMatcher } from "../glob-matcher.ts";
import type { Policy } from "../policy.ts";
import { allow, ask, deny, type Verdict } from "../verdict.ts";
import { branchOf, branchWrittenAfterMove, commitsHere, onlyMovesToBranch } from "./branch-moves.ts";

/** State of HEAD. */
export type BranchState =
  | {
      readonly type: "branch";
      readonly branch: string;
      /** The branch this session works on; undefined before it has one. */
      readonly sessionBranch: string | undefined;
      /** What protects the branch, e.g. `main` or the glob `release/*`; undefined if nothing does. */
      readonly protectedBy: string | undefined;
    }
  | { readonly type: "detached" }
  /** The workspace is not a git repository. */
  | { readonly type: "none" };

/**
 * How the agent may change files: on its own branch, or by proposals that the user applies; `staged-proposal`: changes by tools
 * and commands are staged, and proposed at the end of the turn.
 */
export type EditingMode = "branch" | "proposal" | "staged-proposal";

/** Looks at the branch of the work tree right now. Rejects when git cannot be asked. */
export type ReadBranch = (options: { readonly signal: AbortSignal }) => Promise<BranchState>;

/** The branch that a turn's first write begins, where nothing is written on the present one. */
export interface BranchOffer {
  readonly name: string;
  /** A person is asked before. */
  readonly asks: boolean;
  /** Where there is no repository, a yes makes one. */
  readonly makesRepository: boolean;
  /** The person wants none: the session only looks. */
  readonly isDeclined: boolean;
}

export interface BranchPolicyOptions {
  readonly mode: EditingMode;
  readonly readBranch: ReadBranch;
  /** What protects a branch of this name; undefined if nothing does. */
  readonly protectedBy: (branch: string) => string | undefined;
  /** Whoever carries out a call has to begin it before the first effect for which `needsBranch` holds. */
  readonly offer?: BranchOffer | undefined;
  /** Whether what calls change now stays apart from the workspace, until it is found as a whole. */
  readonly isApart?: (() => boolean) | undefined;
}

/**
 * In Branch Mode, files change and commands that may write run only on the session's own, unprotected branch. In Proposal
 * Mode only the user changes files; commands run only if they are staged. This policy denies: no yes can change that.
 */
export function createBranchPolicy({ mode, readBranch, protectedBy, offer, isApart }: BranchPolicyOptions): Policy {
  return {
    name: "branch",
    kind: "guard",
    async decide({ analysis }, { signal }) {
      const writes = analysis.effects.some((effect) => writesFile(effect) || mayWrite(effect));
      const commands = analysis.effects.flatMap((effect) =>
        effect.type === "exec" && !isReadOnly(effect) ? [effect.command] : [],
      );
      if (mode === "staged-proposal") return writesNowhere(analysis.effects) ? allow : proposalOnly;
      if (mode === "proposal") return writes || commands.length > 0 ? proposalOnly : allow;
      const staysApart = isApart?.() === true && !areFound(analysis.effects);
      if (staysApart && writesNowhere(analysis.effects)) return allow;
      if (offer !== undefined && needsBranch(analysis.effects)) {
        const state = await readBranch({ signal });
        if (isBarred(state) || (state.type === "none" && offer.makesRepository && writes)) return offered(offer, state);
      }
      if (analysis.effects.some((effect) => effect.type === "exec" && effect.staged === true)) return allow;
      const head = analysis.effects.find((effect) => effect.type === "git" && effect.what === "head");
      if (head?.type === "git") return writes ? onNewHead(head, protectedBy) : allow;
      const onto = commands.map((command) => branchWrittenAfterMove(command, protectedBy)).find((name) => name);
      if (onto !== undefined) return protectedBranch(onto, protectedBy(onto) ?? "");
      if (writes) {
        const state = await readBranch({ signal });
        const isFound = analysis.effects.every((effect) => effect.type !== "write" || effect.found !== undefined);
        return isFound && state.type !== "branch" ? elsewhere(state.type) : onBranch(state);
      }
      if (commands.every(onlyMovesToBranch)) return allow;
      const state = await readBranch({ signal });
      // Elsewhere no branch needs keeping: whether the command runs is a person's to say.
      return state.type === "branch" ? onBranch(state) : allow;
    },
  };
}

/**
 * Whether these effects may write on the present branch: on files, or by commands of git. A staged command's files are looked at
 * when they are found; what it would do with git's index and commits cannot move to another branch afterwards.
 */
export function needsBranch(effects: readonly Effect[]): boolean {
  // It went to a branch by itself.
  if (effects.some((effect) => effect.type === "git" && effect.what === "head")) return false;
  return effects.some((effect) => {
    if (writesFile(effect) || mayWrite(effect)) return true;
    if (effect.type !== "exec" || isReadOnly(effect) || onlyMovesToBranch(effect.command)) return false;
    return effect.staged !== true || commitsHere(effect.command);
  });
}

/** Whether these are what a staged command did, and not what a call would do. */
export function areFound(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.type === "git" || (effect.type === "write" && effect.found !== undefined));
}

/** Whether nothing may be written where HEAD is, and a new branch would help. */
export function isBarred(state: BranchState): boolean {
  return state.type === "detached" || (state.type === "branch" && state.protectedBy !== undefined);
}

function offered({ name, asks, isDeclined }: BranchOffer, state: BranchState): Verdict {
  if (!asks) return allow;
  if (isDeclined) return onlyLooks;
  const reason =
    state.type === "none"
      ? `The folder is no git repository. A yes runs git init, commits what is there without ignored files and secrets, and begins the branch ${name}.`
      : `${state.type === "branch" ? `Branch ${state.branch} is protected` : "HEAD is detached"}. A yes begins the branch ${name}, and everything goes on there.`;
  return ask({ code: "protected_branch", rule: branchRule, reason });
}

/** The rule of the question about a turn's branch. */
export const branchRule = "branch/protected-branch";

const onlyLooks: Verdict = deny({
  code: "protected_branch",
  rule: branchRule,
  reason: "The user only wants to look in this session: nothing is written.",
  hint: "Answer without changing anything. The user can say /branch to have changes made on a branch.",
});

/** A staged command moved HEAD, and changed files: they belong to the branch it went to. */
function onNewHead({ to }: GitChange, protectedBy: BranchPolicyOptions["protectedBy"]): Verdict {
  const branch = branchOf(to);
  if (branch === undefined) return onBranch({ type: "detached" });
  return onBranch({ type: "branch", branch, sessionBranch: undefined, protectedBy: protectedBy(branch) });
}

/** Files are staged, and so are the effects of staged commands. */
function writesNowhere(effects: readonly Effect[]): boolean {
  return effects.every((effect) => !mayWrite(effect) && (effect.type !== "exec" || effect.staged === true));
}

/** What git ignores belongs to no branch. */
function writesFile(effect: Effect): boolean {
  return effect.type === "write" && effect.found?.ignored !== true;
}

/** A tool of an MCP server that got names of files here. */
function mayWrite(effect: Effect): boolean {
  return effect.type === "external" && !effect.readsOnly && effect.paths.some(({ inside }) => inside);
}

/** A command's changes without a branch to keep them on, and so without one to undo them with. */
function elsewhere(place: "none" | "detached"): Verdict {
  return ask({
    code: "no_branch",
    rule: "branch/no-branch",
    reason: place === "none" ? "The workspace is not a git repository." : "HEAD is detached.",
  });
}

const proposalOnly: Verdict = deny({
  code: "proposal_mode",
  rule: "branch/proposal-mode",
  reason: "This session is in Proposal Mode: nothing is changed or run, changes are proposed.",
  hint: "Propose the change, and the user applies it.",
});

function onBranch(state: BranchState): Verdict {
  switch (state.type) {
    case "none":
      return deny({
        code: "no_repository",
        rule: "branch/no-repository",
        reason: "The workspace is not a git repository, so changes could not be undone.",
        hint: "Run git init, or use Proposal Mode.",
      });
    case "detached":
      return deny({
        code: "detached_head",
        rule: "branch/detached-head",
        reason: "HEAD is detached: changes would belong to no branch.",
        hint: "Check out a branch, or use Proposal Mode.",
      });
    case "branch":
      if (state.protectedBy !== undefined) {
        return protectedBranch(state.branch, state.protectedBy);
      }
      if (state.sessionBranch !== undefined && state.branch !== state.sessionBranch) {
        return deny({
          code: "branch_moved",
          rule: "branch/branch-moved",
          reason: `HEAD is on ${state.branch}, and this session works on ${state.sessionBranch}.`,
          hint: `Check out ${state.sessionBranch} again.`,
          retryable: true,
        });
      }
      return allow;
  }
}

function protectedBranch(branch: string, protectedBy: string): Verdict {
  return deny({
    code: "protected_branch",
    rule: branchRule,
    reason: `Branch ${branch} is protected (${protectedBy}): nothing is written there, not even by a command.`,
    hint: "Start a branch for this work, e.g. git switch --create NAME as a command of its own, or use Proposal Mode.",
  });
}

const alwaysProtected: readonly string[] = ["main", "master", "develop", "release/*", "release/**"];

/** What protects a branch: a built-in name or glob, the remote's default, or one of `extra`; undefined if nothing does. */
export function isProtectedBranch(
  branch: string,
  options: { readonly extra?: readonly string[]; readonly remoteDefault?: string | undefined } = {},
): string | undefined {
  const name = branch.replace(/^refs\/heads\//, "");
  const folded = name.toLowerCase();
  const remoteDefault = options.remoteDefault?.replace(/^(?:refs\/remotes\/)?origin\//, "");
  if (remoteDefault !== undefined && folded === remoteDefault.toLowerCase()) return `default branch of the remote`;
  return [...alwaysProtected, ...(options.extra ?? [])].find(
    (glob) => folded === glob.toLowerCase() || (!plainName.test(glob) && matches(name, glob)),
  );
}

/** A name that, as a glob, matches only itself. */
const plainName = /^[\w-]+$/;

function matches(name: string, glob: string): boolean {
  if (!alwaysProtected.includes(glob)) return globMatcher(glob, { nocase: true })(name);
  const match = builtIn.get(glob) ?? globMatcher(glob, { nocase: true });
  builtIn.set(glob, match);
  return match(name);
}

/** Matchers of the built-in globs, created on first use: each write asks twice. */
const builtIn = new Map<string, (name: string) => boolean>();
