import { delimiter, join, relative } from "node:path";
import { IgnoredPaths } from "@gennai/git/ignored-paths";
import { withSettings } from "@gennai/git/run/git-settings";
import { startsNothing } from "@gennai/governance/command/only-reads";
import { quoted } from "@gennai/governance/command/shell-words";
import { usedLogin } from "@gennai/governance/connection";
import { splitInstall } from "@gennai/governance/network/split-install";
import { agreedControl } from "@gennai/governance/policies/files/agreed-control";
import { shownNames } from "@gennai/governance/shown-names";
import { ToolFailure } from "@gennai/governance/tool-error";
import { holdsPrograms } from "@gennai/machine/host/host-layout";
import { type RepositoryPaths, repositoryPaths } from "@gennai/machine/host/repository-paths";
import { directoriesOutside } from "@gennai/machine/host/search-path";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { CommandNotStarted } from "@gennai/machine/process/run-command";
import { systemErrorCode } from "@gennai/machine/system-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { SessionLayer } from "@gennai/stage/layer/session-layer";
import { type CacheEntries, listEntries, removeLater } from "@gennai/stage/layer/staged-caches";
import type { Observation, StageEffect } from "@gennai/stage/observe/effect";
import type { Stage } from "@gennai/stage/stage";
import type { ProgramHome, RunMount, StagedCommand } from "@gennai/stage/staged-command";
import { NotObservable, StageUnavailable } from "@gennai/stage/transaction/stage-error";
import { removeTransaction, type Transaction } from "@gennai/stage/transaction/transaction";
import { layStagedTree } from "../proposal/lay-staged-tree.ts";
import type { OpenStage } from "../stages/open-stages.ts";
import { freshTemporary, noCompiledCode } from "./fresh-temporary.ts";
import { GitOnStage } from "./git-on-stage.ts";
import { layerRules } from "./layer-rules.ts";
import { withMountPlaces } from "./mount-places.ts";
import { watchRun } from "./network-of-run.ts";
import { oneAfterOther } from "./one-after-other.ts";
import { operationIn } from "./operation-under-way.ts";
import { programHere } from "./program-here.ts";
import { readsOnly } from "./reads-only.ts";
import type { StagedShellCommand, StagedShellRun, StagedSurroundings } from "./run-staged.ts";
import { staysInSession } from "./session-refs.ts";
import { indexToHave, unshownChanges } from "./unshown-changes.ts";
import { withKey } from "./with-key.ts";
import { withWayOut } from "./with-way-out.ts";

/** A command that has ended on its stage, now unmounted, and all that it left there. */
export interface ObservedRun extends Pick<StagedShellRun, "run" | "connections" | "onlyLookedUp" | "overtaken"> {
  /** The stage, still mounted, if the command left nothing: it is given back instead of removing the transaction. */
  readonly unused: Stage | undefined;
  readonly transaction: Transaction;
  readonly observation: Observation;
  /** What git ignores in the work tree, as the observation was told; undefined without a repository. */
  readonly ignored: IgnoredPaths | undefined;
  /** Changes that git's status will not show, if the workspace would get them. */
  readonly unshown: ReadonlySet<StageEffect> | undefined;
  /** Whether a path in git's data stays in the session. @param absolute of the user's */
  stays(absolute: string): boolean;
  /** The session's layer, as the command saw it. */
  readonly layer: SessionLayer | undefined;
  /** Trees of the layer that the command did not see. */
  readonly dropped: readonly string[];
  /** Whether the user signs commits; no command can. */
  readonly signs: boolean;
  /** What the command left under way in git. Then nothing was looked at, and later commands can go on with all of it. */
  readonly operation: string | undefined;
}

/**
 * Runs a command on a stage and looks at what it left. Throws `ToolFailure`; nothing of it is left then.
 * @param open with whose changes it goes on; what it leaves then counts for all of them
 * @param ends whether all is looked at in any case
 */
export async function runAndObserve(
  { command, cwd, timeoutMs, liveBytes, confirmed, key, program, text = key?.text ?? command.text }: StagedShellCommand,
  surroundings: StagedSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
  { open, ends = false }: { readonly open?: OpenStage | undefined; readonly ends?: boolean | undefined } = {},
): Promise<ObservedRun> {
  const {
    stages,
    zeroAccess,
    workspaceRoot,
    environment,
    session,
    limits = {},
    proposal,
    allowed = [],
    clock,
  } = surroundings;
  const install = key === undefined && allowed.length > 0 ? splitInstall(text) : undefined;
  using watch = await watchRun(command.text, surroundings).catch((error: unknown) => {
    throw unavailable(error);
  });
  const { network, resolver } = watch;
  // After a yes to the command itself, its work may come into the workspace: that excludes what other runs could have put into
  // caches.
  const isPlain = key === undefined && program === undefined && proposal === undefined && allowed.length === 0;
  const isAsRead = isPlain && text === command.text;
  const isAgreed = confirmed || key !== undefined;
  const mayStand = allowed.length > 0 && programHere(command, { cwd, workspaceRoot, environment }).lasting;
  // What an earlier command left for its program to load or start would get the login, or the way out.
  const usesLogin = (surroundings.logins ?? []).length > 0;
  const startsFresh = key !== undefined || allowed.length > 0;
  const caches = {
    none: isAsRead && startsNothing(command),
    all: allowed.length > 0,
    own: isAgreed || mayStand,
    ...(startsFresh && { ownIn: (path: string) => holdsPrograms(path, environment["PATH"]) }),
    ...(program === undefined ? {} : { more: program.directories }),
  };
  const staging = stages.stage(workspaceRoot, zeroAccess, {
    network,
    session,
    caches,
    open,
    reads: () => isAsRead && readsOnly(command, { stages, workspaceRoot }),
  });
  const { stage, layer, dropped, prepareNext } = await staging.catch((error: unknown) => {
    throw unavailable(error);
  });
  const { transaction } = stage;
  try {
    const repository = repositoryPaths(workspaceRoot, stages.home);
    // Nothing that git ignores is proposed: a person who allows an install has not agreed to review all its files. Nor to those of
    // the commands before it.
    const agreed = confirmed && proposal === undefined && open === undefined ? agreedControl(command) : undefined;
    const within = relative(transaction.roots[0]?.path ?? workspaceRoot, workspaceRoot);
    if (proposal !== undefined) await stage.change((merged) => layStagedTree(proposal, join(merged, within)));
    const proposed = [...(proposal?.files.keys() ?? [])].map((path) => join(within, path));
    // What the user's own variables name could lie in the workspace.
    const seen = {
      ...(key !== undefined || mayStand ? commandEnvironment(environment) : environment),
      ...watch.environment,
      ...program?.environment,
      ...(startsFresh ? noCompiledCode : {}),
    };
    const roots = transaction.roots.map(({ path }) => path);
    const outside = { PATH: directoriesOutside(environment["PATH"], roots).join(delimiter) };
    const copying = { text: command.text, environment: outside, timeoutMs };
    await using fresh = startsFresh ? await freshTemporary(stage, copying, options) : undefined;
    const shown = liveBytes === undefined ? {} : { liveBytes };
    const staged = {
      text: install?.fetch ?? text,
      cwd,
      environment: seen,
      resolver,
      temporary: fresh?.directory,
      timeoutMs,
      clock,
      limits,
      hasWayOut: startsFresh,
      ...shown,
    };
    const withLogins = (one: StagedCommand): StagedCommand =>
      surroundings.placeholders === undefined
        ? one
        : { ...one, environment: withSettings(one.environment, surroundings.placeholders.git) };
    const running =
      key === undefined
        ? stage.run(
            withProgram(withLogins(mayStand ? withWayOut(staged, roots) : staged), watch.mounts, program),
            options,
          )
        : withMountPlaces(stage, key.mounts, () => stage.run(withKey(staged, key, roots), options));
    prepareNext();
    const first = await running;
    watch.withdrawReached();
    await surroundings.onLogins?.(watch.connections(first).filter(usedLogin));
    const alone = { environment, offline: true };
    const behind = [
      { text: (key ?? install)?.scripts, place: alone },
      { text: install?.program, place: {} },
    ];
    const keeps = caches.all && !isAgreed && session !== undefined;
    // From here on code of the fetched packages runs, without a way to where they came from. What it leaves in caches must not
    // reach a run with one.
    const fetched =
      keeps && behind.some(({ text: next }) => next !== undefined) ? await listEntries(stage.caches) : undefined;
    let run = first;
    for (const { text: next, place } of behind) {
      if (next === undefined || run.state !== "exited" || run.exitCode !== 0) continue;
      run = oneAfterOther(run, await stage.run({ ...staged, ...place, text: next }, options));
    }
    const lacking = (key === undefined && (await fresh?.passOn())) || [];
    if (lacking.length > 0) {
      run = { ...run, output: `${run.output}\n[later commands do not find in /tmp: ${shownNames(lacking)}]\n` };
    }
    const mayBeHeld = stages.hasBeside(workspaceRoot);
    const git = repository && new GitOnStage(stage, repository.workTree, environment);
    const ignored = git && new IgnoredPaths(git.workTree);
    const stays =
      repository && session !== undefined && proposal === undefined
        ? staysInSession(repository, transaction, agreed?.gitState === true || (usesLogin && "remotes"))
        : () => false;
    const rules =
      git && ignored && session !== undefined
        ? layerRules(repository, { transaction, git, ignored, layer, agreed, proposed, stays })
        : undefined;
    const isAlone = session !== undefined && (open !== undefined || stages.open.of(session) === undefined);
    const mayStayOpen = !ends && stage.canStay && isAlone && proposal === undefined;
    const left = mayStayOpen && repository !== undefined ? leftUnderWay(stage, repository, surroundings) : undefined;
    // Of one that was ended it is not known what it was about to do.
    const operation = left ?? (mayStayOpen && run.state !== "exited" ? open?.operation : undefined);
    if (operation !== undefined) await stage.stay();
    const all = operation === undefined ? await stage.observe(rules, { mayBeHeld }) : nothingSeen(stage);
    const observation = open === undefined ? all : stages.open.withoutRefreshed(open, all);
    // What is proposed is reviewed, whatever git shows.
    const users =
      repository && proposal === undefined
        ? new GitOnStage(stage, repository.workTree, environment, indexToHave(stage, repository))
        : undefined;
    const unshown = users && (await unshownChanges(stage, users, observation.effects));
    const isApart = proposal !== undefined || open !== undefined || operation !== undefined;
    const isUnused = !isApart && !keeps && !mayBeHeld && leftNothing(observation);
    if (!isUnused) await stage.close();
    if (keeps && run.state === "exited") await keepFetched(stages.stateDir, stage, { session, fetched });
    const [connections, onlyLookedUp] = [watch.connections(run), watch.onlyLookedUp()];
    const unused = isUnused ? stage : undefined;
    const found = { transaction, observation, ignored, unshown, stays, unused, layer, dropped, operation };
    return { run, connections, onlyLookedUp, ...found, signs: await stage.userSigns() };
  } catch (error) {
    await stage.close();
    await removeTransaction(transaction);
    throw notRun(error);
  }
}

function leftUnderWay(
  stage: Stage,
  { writable: [common = "", own = common] }: RepositoryPaths,
  { isOwnBranch = () => true }: StagedSurroundings,
): string | undefined {
  return operationIn({ own: stage.seen(own), common: stage.seen(common) }, { own, common }, isOwnBranch);
}

function nothingSeen({ markers }: Stage): Observation {
  return { effects: [], dropped: [], replaced: [], markers };
}

function leftNothing({ effects, dropped, layer }: Observation): boolean {
  return effects.length === 0 && dropped.length === 0 && layer === undefined;
}

/** Runs `alone`, so that its environment, which may hold a login, stays in no process that waits for the next command. */
function withProgram(
  command: StagedCommand,
  mounts: readonly RunMount[],
  program: ProgramHome | undefined,
): StagedCommand {
  if (program === undefined) return { ...command, mounts };
  const { text, environment } = withFiles(command, program.files);
  return { ...command, text, environment, mounts: [...mounts, ...program.mounts], alone: true };
}

/** The shell itself writes the files from its environment, so that a login in them is never on a disk. */
function withFiles(
  { text: command, environment }: Pick<StagedCommand, "text" | "environment">,
  files: ProgramHome["files"],
): Pick<StagedCommand, "text" | "environment"> {
  const held: Record<string, string> = {};
  const lines = files.map(({ path, text }, index) => {
    const names = (text.match(/[^]{1,30000}/gu) ?? [""]).map((piece, number) => {
      const name = `GENNAI_FILE_${index}_${number}`;
      held[name] = piece;
      return name;
    });
    const words = names.map((name) => `"$${name}"`).join(" ");
    return `printf %s ${words} > ${quoted(path)}; unset ${names.join(" ")}\n`;
  });
  return { text: lines.join("") + command, environment: { ...environment, ...held } };
}

/** If keeping fails, the packages are fetched again. */
async function keepFetched(
  stateDir: string,
  { transaction, caches }: Stage,
  { session, fetched }: { readonly session: string; readonly fetched: CacheEntries | undefined },
): Promise<void> {
  const [workTree] = transaction.roots;
  if (workTree === undefined) return;
  const { path, device, inode } = workTree;
  try {
    if (fetched !== undefined) await removeLater(caches, fetched);
    await SessionLayer.fetched(stateDir, { session, root: { path, device, inode } }, caches);
  } catch (error) {
    if (!(error instanceof StageUnavailable) && systemErrorCode(error) === undefined) throw error;
  }
}

function unavailable(error: unknown): ToolFailure {
  const reason = errorMessage(error);
  const hint = "Tell the user; commands never run outside the sandbox instead.";
  return new ToolFailure("stage_unavailable", `The command did not run, because it cannot be staged: ${reason}`, {
    failureClass: "tool_unavailable",
    hint: error instanceof StageUnavailable ? error.advice : hint,
    cause: error,
  });
}

export function notRun(error: unknown): unknown {
  if (error instanceof CommandNotStarted) {
    return new ToolFailure(error.code, error.message, {
      retryable: error.code === "directory_changed",
      cause: error,
    });
  }
  if (!(error instanceof NotObservable)) return error;
  return new ToolFailure("not_observable", `${error.message} Nothing of what the command did is kept.`, {
    failureClass: "partial_execution",
    cause: error,
  });
}
