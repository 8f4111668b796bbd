import { join } from "node:path";
import type { UncoveredKey } from "@gennai/egress/keys/login/user-keys";
import type { RunPlaceholders } from "@gennai/egress/keys/own-logins";
import type { AddedLogin, AskToSend } from "@gennai/egress/network/added-login";
import type { WatchedNetwork } from "@gennai/egress/network/watched-network";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { AllowedEndpoint, Connection } from "@gennai/governance/connection";
import { shownName } from "@gennai/governance/shown-names";
import type { FileChange, RefMove } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { HeldClock } from "@gennai/machine/process/held-clock";
import type { CommandRun } from "@gennai/machine/process/run-command";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { neverKept, type Observation, type StageEffect } from "@gennai/stage/observe/effect";
import { type GitEffect, observeGit } from "@gennai/stage/observe/git-effects";
import type { ProgramHome } from "@gennai/stage/staged-command";
import { removeTransaction, type Transaction } from "@gennai/stage/transaction/transaction";
import type { FoundEdits } from "../found/found-edits.ts";
import { type FoundEffects, foundEffects } from "../found/found-effects.ts";
import { keepEffects, takeForLayer } from "../found/keep-effects.ts";
import { keepWayBack } from "../found/keep-way-back.ts";
import { keptRefs } from "../found/kept-refs.ts";
import { foundBefore, ontoPresent } from "../found/onto-present.ts";
import type { KeptInPart } from "../found/parts-in-hunks.ts";
import { mergeSaved } from "../found/saved-meanwhile.ts";
import { allTheUsers, type UsersContents } from "../found/thrown-away.ts";
import type { StagedTree } from "../proposal/staged-tree.ts";
import { dropOpen } from "../stages/open-stages.ts";
import type { Stages, ZeroAccess } from "../stages/stages.ts";
import { giveUp, rescuing } from "./give-up-open.ts";
import { halfByName } from "./half-by-name.ts";
import { notRun, runAndObserve } from "./observed-run.ts";
import { movedOn } from "./proposed-work.ts";

export interface StagedShellCommand {
  readonly command: CommandAnalysis;
  /** Real path, in the workspace. */
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Bytes of output shown while it runs; by default, as many as are kept. */
  readonly liveBytes?: number | undefined;
  /** True if a person allowed the command itself. */
  readonly confirmed: boolean;
  /** True to look at what is under way in git as if it had ended: a person wants it as it is. */
  readonly handsOver?: boolean;
  /** The login that a person let this one run use. */
  readonly key?: UncoveredKey | undefined;
  /** Set for a program that a person starts with this run. */
  readonly program?: ProgramHome | undefined;
  /** Text for the shell that replaces the command's. */
  readonly text?: string | undefined;
}

export interface StagedSurroundings {
  readonly stages: Stages;
  readonly zeroAccess: ZeroAccess;
  /**
   * The session's network, in which its background runs are reached; it lets nothing out. Without it, the command's own network
   * is not observed.
   */
  readonly network?: WatchedNetwork | undefined;
  /** Endpoints that a person let this one run reach: it then has its own network, and reaches no background run. */
  readonly allowed?: readonly AllowedEndpoint[] | undefined;
  /** Logins for some of `allowed`, added to the run's requests; the run never sees them. */
  readonly logins?: readonly AddedLogin[] | undefined;
  /** Asks about each request that would change something with one of them; without it, that is refused. */
  readonly ask?: AskToSend | undefined;
  /** Called with what was reached with them, once nothing more can be. */
  readonly onLogins?: ((used: readonly Connection[]) => Promise<void>) | undefined;
  /** What programs of the run find in place of the user's logins. */
  readonly placeholders?: RunPlaceholders | undefined;
  /** Holds the clock of the command's time. */
  readonly clock?: HeldClock | undefined;
  /** The session whose layer the command sees and adds to; without it, files that git ignores are kept like all others. */
  readonly session?: string | undefined;
  /** What in files may be the user's work; all of it, if left out. */
  readonly usersContents?: UsersContents | undefined;
  /** Whether the session works on a branch, so that a command may leave HEAD there; on every one, if left out. */
  readonly isOwnBranch?: ((name: string) => boolean) | undefined;
  /** Whether the session made a branch, and left it at a commit; it made none, if left out. */
  readonly isOwnTip?: ((name: string, id: string) => boolean) | undefined;
  /** Proposed changes that the command sees over the workspace, and to which its own are added instead of the workspace. */
  readonly proposal?: StagedTree | undefined;
  /** Where changes become a proposal that cannot be kept, because the user changed the same meanwhile. */
  readonly unfinished?: (() => Promise<StagedTree>) | undefined;
  /** Whether the session stashed a commit; it stashed none, if left out. */
  readonly isOwnStash?: ((id: string) => boolean) | undefined;
  /** Real path. */
  readonly workspaceRoot: string;
  /** Everything the command finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Limits on the machine's resources; the usual ones if left out. */
  readonly limits?: Partial<CommandLimits>;
}

/** Changes on a stage. The workspace is still unchanged: the holder keeps or drops them. */
export interface StagedOffer
  extends Omit<FoundEffects, "effectsWithout" | "effectsOf" | "changes" | "edits" | "inHunks"> {
  /** Files that can never be kept, and why, to be shown with the result. */
  readonly left: readonly string[];
  /**
   * Writes the changes to the workspace, except some parts, on top of what others changed on other lines since they were found. Throws
   * `ToolFailure` `stale_file` if others changed the same lines, or a file while the command ran; nothing is kept then.
   *
   * @param dropped ids
   * @param about.title for a user without a session: the kept changes can be undone later under this name
   * @param about.inPart decisions about hunks of `proposed`, for parts of which not all is kept
   * @param about.record what the session has to know of them if this process ends before it recorded them; as JSON
   */
  keep(dropped: ReadonlySet<string>, about?: KeptUnder): Promise<KeptWork>;
  drop(): Promise<void>;
}

/** A staged command that has ended. */
export interface StagedShellRun extends StagedOffer {
  readonly run: CommandRun;
  /** The endpoints that it reached, or tried to reach. */
  readonly connections: readonly Connection[];
  /** Names that it looked up without a connection being seen. */
  readonly onlyLookedUp: readonly string[];
  /** Why nothing of it may be kept, if no question to a person can change that. */
  readonly refused?: string | undefined;
  /** What git ignores and goes into the session's layer when it is kept: outermost paths, relative to the work tree. */
  readonly layered: readonly string[];
  /** Trees of that layer that the command did not see, because the workspace's versions changed meanwhile. */
  readonly stale: readonly string[];
  /** What is under way in git, so that keeping it keeps it for later commands of the session only. */
  readonly operation?: string | undefined;
  /** What was under way in git, if the command did not run, and this saves that on a branch instead. */
  readonly overtaken?: string | undefined;
  /** Whether it made commits that the user would have signed. */
  readonly unsigned?: boolean;
  /** @param options.forGood also what is under way in git, with which the command went on */
  drop(options?: { readonly forGood?: boolean }): Promise<void>;
  /** What is needed to undo all but some parts, as edits. Call it before it is kept. */
  edits(dropped: ReadonlySet<string>): FoundEdits;
}

/** One that a person may review by the hunk. */
export interface ReviewableRun extends StagedShellRun {
  /** Its parts as changes; a change has its part's id. Call it before it is kept or dropped. */
  proposed(): readonly ProposedChange[];
}

export interface KeptUnder {
  readonly title?: string | undefined;
  readonly inPart?: KeptInPart | undefined;
  readonly record?: ((refs: readonly RefMove[]) => unknown) | undefined;
}

/** What of a staged command was kept. */
export interface KeptWork {
  readonly changes: readonly FileChange[];
  readonly refs?: readonly RefMove[];
  /** Why later commands do not see what git ignores of it; undefined if they do. */
  readonly notInLayer: string | undefined;
}

/**
 * Runs a shell command on a stage, and returns what it did. Throws `ToolFailure` if the command did not start, or its work cannot
 * be observed.
 */
export async function runStaged(
  command: StagedShellCommand,
  surroundings: StagedSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<ReviewableRun> {
  const { stages, workspaceRoot, session } = surroundings;
  // What a login sends was committed before, and what it fetches is no part of what is under way.
  const isApart = command.key !== undefined || command.text !== undefined;
  const open = session === undefined || isApart ? undefined : stages.open.of(session);
  const moved = open === undefined ? [] : stages.open.movedSince(open);
  const { transaction, observation, ignored, unshown, stays, unused, layer, dropped, signs, ...ran } = await (open !==
    undefined && moved.length > 0
    ? giveUp(open, moved, command, surroundings, options)
    : runAndObserve(command, surroundings, options, { open, ends: command.handsOver }));
  const network = surroundings.network?.network;
  const remove = async (): Promise<void> => {
    if (unused === undefined) await removeTransaction(transaction);
    else stages.giveBack(workspaceRoot, unused);
  };
  try {
    // What no layer holds, because git's data is not in the work tree, and logs.
    const isHeld = ({ root, path, change }: StageEffect): boolean =>
      change !== "deleted" && stays(join(transaction.roots[root]?.path ?? "/", path));
    const held = observation.effects.filter(isHeld);
    const repository = open === undefined ? repositoryPaths(workspaceRoot, stages.home) : undefined;
    const saved = await mergeSaved(transaction, observation, repository);
    const withSaved = (effect: StageEffect): StageEffect => saved.get(effect) ?? effect;
    const all = observation.effects.map(withSaved);
    const effects = all.filter((effect) => !held.includes(effect));
    const git = observeGit(transaction, { ...observation, effects });
    const wanted = effects.filter((effect) => !git.dropped.has(effect));
    const kept = wanted.filter(({ flags }) => !flags.some((flag) => neverKept.includes(flag)));
    // Nobody was asked about those that only show what would be sent.
    const usesLogin = (surroundings.logins ?? []).some(({ rehearses }) => rehearses === undefined);
    const found = await foundEffects({
      transaction,
      effects: kept,
      git: git.effects,
      ignored,
      unshown: unshown && new Set([...unshown].map(withSaved)),
      merged: new Set(saved.values()),
      workspaceRoot,
      home: stages.home,
      leads: stages.leads(workspaceRoot),
      command: command.command,
      // A yes to the last command is none to what the ones before it did.
      confirmed: command.confirmed && open === undefined,
      usesLogin,
      mayInstall: usesLogin && open === undefined,
      usersContents: surroundings.usersContents ?? allTheUsers,
      isOwnBranch: surroundings.isOwnBranch,
      isOwnTip: surroundings.isOwnTip,
      isOwnStash: surroundings.isOwnStash,
    });
    const before = foundBefore(transaction, kept);
    const hunks = found.inHunks(before);
    let inPart: ReadonlyMap<StageEffect, StageEffect | null> = new Map();
    let present: ReadonlyMap<StageEffect, StageEffect> | undefined;
    const onPresent = (some: readonly StageEffect[]): readonly StageEffect[] => {
      present ??= ontoPresent(transaction, before);
      return some.map((effect) => present?.get(effect) ?? inPart.get(effect) ?? effect);
    };
    const wantedOf = (without: ReadonlySet<string>) =>
      onPresent(found.effectsWithout(without).filter((effect) => inPart.get(effect) !== null));
    return {
      ...found,
      ...ran,
      layered: observation.layer?.part.there ?? [],
      stale: dropped,
      unsigned: signs && git.effects.some(({ type }) => type === "objects") && git.effects.some(movesRef),
      refused: headOnHeld(transaction, git.effects, stays) ?? halfByName(wanted, git.effects),
      left: [
        ...wanted.filter((effect) => !kept.includes(effect)).map(describeLeft),
        ...held.filter(isRef).map(({ path }) => `${shownName(path)} (no branch)`),
        ...describeDropped(observation),
      ],
      edits: (without) => found.edits(wantedOf(without)),
      proposed: () => hunks.changes(),
      keep: async (without, about = {}) => {
        if (unused !== undefined) {
          await remove();
          return { changes: [], notInLayer: undefined };
        }
        if (session !== undefined && ran.operation !== undefined) {
          const about = { session, workspace: workspaceRoot, operation: ran.operation };
          if (stages.open.hold(transaction, observation, about)) return { changes: [], notInLayer: undefined };
          await remove();
          throw movedOn("Git's index was changed by somebody else meanwhile");
        }
        using alone = new DisposableStack();
        if (open !== undefined) alone.defer(await stages.open.take(open));
        if (open !== undefined && stages.open.isLocked(open)) throw busy;
        const rescue = open && (await rescuing(open, observation, command, surroundings));
        if (about.inPart !== undefined) inPart = hunks.keepOnly(transaction, about.inPart);
        const wantedNow = wantedOf(without);
        const work = { observation: { ...observation, effects: onPresent(all) }, kept: wantedNow };
        const refs = keptRefs(transaction, work, { workspaceRoot, home: stages.home });
        const under = { workspace: workspaceRoot, session, title: about.title, record: about.record?.(refs) };
        keepWayBack(transaction, wantedNow, found.edits(wantedNow).files, under);
        if (session !== undefined) {
          await takeForLayer(transaction, observation, { session, command: command.command.text });
        }
        const keeping = keepEffects(stages.stateDir, transaction, work);
        const { layers, notInLayer } = await (rescue === undefined || ran.overtaken !== undefined
          ? keeping
          : keeping.catch(rescue.end));
        if (open !== undefined) await dropOpen(open);
        stages.prepare(workspaceRoot, layers[0] ?? layer, network);
        return { changes: found.changes(wantedNow), refs, notInLayer };
      },
      drop: async ({ forGood = false } = {}) => {
        await (forGood && open !== undefined ? dropOpen(open) : remove());
        stages.prepare(workspaceRoot, layer, network);
      },
    };
  } catch (error) {
    await remove();
    throw notRun(error);
  }
}

const busy = new ToolFailure(
  "git_locked",
  "Another git is at work in the user's repository, so nothing was kept yet.",
  {
    failureClass: "partial_execution",
    hint: "It stays in this session: run any command again, then it is kept.",
    retryable: true,
  },
);

function movesRef(effect: GitEffect): boolean {
  return effect.type === "ref" && effect.to !== undefined;
}

function isRef({ path, after }: StageEffect): boolean {
  return after?.type === "file" && /(?:^|\/)refs\//.test(path) && !/(?:^|\/)logs\//.test(path);
}

/** Why nothing may be kept if HEAD is on a branch that stays in the session: for the user, that branch is not there. */
function headOnHeld(
  { roots }: Transaction,
  effects: readonly GitEffect[],
  stays: (absolute: string) => boolean,
): string | undefined {
  for (const effect of effects) {
    const ref = effect.type === "head" && effect.to?.startsWith("ref: ") ? effect.to.slice("ref: ".length) : undefined;
    if (ref === undefined || !stays(join(roots[effect.root]?.path ?? "/", effect.repository, ref))) continue;
    return `git could take ${shownName(ref)}, which HEAD is on, for another name. Choose another name for the branch`;
  }
  return undefined;
}

export function describeLeft({ path, flags }: StageEffect): string {
  const flag = flags.find((one) => neverKept.includes(one));
  const why: Readonly<Record<string, string>> = {
    hidden: "it is hidden from commands",
    copy: "commands see a copy of it without logins",
    "name-not-utf8": "its name is not UTF-8",
    device: "it is not a file",
    elsewhere: "it is on another file system than the workspace",
  };
  return `${shownName(path)} (${why[flag ?? ""] ?? "it cannot be kept"})`;
}

/** What a command left that is in no effect, and whether one stood where there is nothing now. */
export function describeDropped({ dropped, effects }: Observation): readonly string[] {
  return dropped.map(({ root, path, why }) => {
    if (why === "as-shown") return `${shownName(path)} (its logins stay, which commands do not see)`;
    const isGone = effects.some((one) => one.change === "deleted" && one.root === root && one.path === path);
    return `${shownName(path)} (it is not a file${isGone ? "; the entry that it replaced is deleted" : ""})`;
  });
}
