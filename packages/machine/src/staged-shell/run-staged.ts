import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import { agreedControl } from "@gennai/governance/policies/agreed-control";
import type { FileChange } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { CommandLimits } from "../process/command-limits.ts";
import { CommandNotStarted, type CommandRun } from "../process/run-command.ts";
import { repositoryPaths } from "../sandbox/repository-paths.ts";
import { commit } from "../stage/commit.ts";
import { neverKept, type Observation, type StageEffect } from "../stage/effect.ts";
import { observeGit } from "../stage/git-effects.ts";
import { SessionLayer } from "../stage/session-layer.ts";
import type { SessionNetwork } from "../stage/session-network.ts";
import { NotCommitted, NotObservable, StageUnavailable } from "../stage/stage-error.ts";
import { cutHardLinks, takeLayerPart } from "../stage/take-layer-part.ts";
import { removeTransaction, type Transaction } from "../stage/transaction.ts";
import { forgetCommit } from "../stage/undo-commit.ts";
import type { FoundEdit } from "./found-edits.ts";
import { type FoundEffects, foundEffects } from "./found-effects.ts";
import { layerRules } from "./layer-rules.ts";
import type { Stages, ZeroAccess } from "./stages.ts";

export interface StagedShellCommand {
  readonly command: CommandAnalysis;
  /** Real path, in the workspace. */
  readonly cwd: string;
  readonly timeoutMs: number;
  /** A person said yes to the command itself. */
  readonly confirmed: boolean;
}

export interface StagedSurroundings {
  readonly stages: Stages;
  readonly zeroAccess: ZeroAccess;
  /** The session's, where background runs have opened it; the command has none of its own then. */
  readonly network?: SessionNetwork | undefined;
  /** Whose layer the command sees, and adds to; without it, what git ignores is kept like all else. */
  readonly session?: string | undefined;
  /** Real path. */
  readonly workspaceRoot: string;
  /** Everything the command finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the command may take of the machine; the usual limits for what is left out. */
  readonly limits?: Partial<CommandLimits>;
}

/** A staged command that has ended. What it did is not true yet: the holder keeps or drops it. */
export interface StagedShellRun extends Omit<FoundEffects, "effectsWithout" | "changes" | "edits"> {
  readonly run: CommandRun;
  /** Files that can never be kept, and why, for whoever reads the result. */
  readonly left: readonly string[];
  /** What git ignores of it goes into the layer of the session when it is kept: outermost paths, relative to the work tree. */
  readonly layered: readonly string[];
  /** Trees of that layer that the command did not see, because the workspace's own were changed meanwhile. */
  readonly stale: readonly string[];
  /** What is needed to take back all but some parts, as edits; undefined where the tree has to be kept. Before it is kept. */
  edits(dropped: ReadonlySet<string>): readonly FoundEdit[] | undefined;
  /**
   * Makes it true, but for some parts. Throws `ToolFailure` `stale_file` when somebody else changed the same meanwhile; nothing
   * is kept then. @param dropped ids
   */
  keep(dropped: ReadonlySet<string>): Promise<readonly FileChange[]>;
  drop(): Promise<void>;
}

/**
 * Runs a shell command on a stage and says what it did. Throws `ToolFailure` for a command that did not start, and for one
 * whose work cannot be looked at.
 */
export async function runStaged(
  { command, cwd, timeoutMs, confirmed }: StagedShellCommand,
  surroundings: StagedSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<StagedShellRun> {
  const { stages, zeroAccess, workspaceRoot, environment, session, limits = {}, network } = surroundings;
  const staging = stages.stage(workspaceRoot, zeroAccess, { network, session });
  const { stage, layer, dropped } = await staging.catch((error: unknown) => {
    throw unavailable(error);
  });
  const { transaction } = stage;
  let observation: Observation;
  let run: CommandRun;
  try {
    run = await stage.run({ text: command.text, cwd, environment, timeoutMs, limits }, options);
    const repository = session === undefined ? undefined : repositoryPaths(workspaceRoot, stages.home);
    const agreed = confirmed ? agreedControl(command) : undefined;
    observation = await stage.observe(
      repository === undefined ? undefined : layerRules(repository, { transaction, layer, agreed }),
    );
  } catch (error) {
    await stage.close();
    await removeTransaction(transaction);
    throw notRun(error);
  }
  await stage.close();
  try {
    const git = observeGit(transaction, observation);
    const wanted = observation.effects.filter((effect) => !git.dropped.has(effect));
    const kept = wanted.filter(({ flags }) => !flags.some((flag) => neverKept.includes(flag)));
    const found = await foundEffects({
      transaction,
      effects: kept,
      git: git.effects,
      workspaceRoot,
      home: stages.home,
      leads: stages.leads(workspaceRoot),
      command,
      confirmed,
    });
    return {
      ...found,
      run,
      layered: observation.layer?.part.trees ?? [],
      stale: dropped,
      left: wanted.filter((effect) => !kept.includes(effect)).map(describeLeft),
      edits: (without) => found.edits(found.effectsWithout(without)),
      keep: async (without) => {
        const wantedNow = found.effectsWithout(without);
        if (session !== undefined) await takeForLayer(transaction, observation, { session, command: command.text });
        const layers = await keep(stages.stateDir, transaction, { observation, kept: wantedNow });
        stages.prepare(workspaceRoot, layers[0] ?? layer);
        return found.changes(wantedNow);
      },
      drop: async () => {
        await removeTransaction(transaction);
        stages.prepare(workspaceRoot, layer);
      },
    };
  } catch (error) {
    await removeTransaction(transaction);
    throw notRun(error);
  }
}

/** Makes ready what of it goes into the layer of the session. */
async function takeForLayer(
  transaction: Transaction,
  { layer, effects, markers }: Observation,
  of: { readonly session: string; readonly command: string },
): Promise<void> {
  const root = transaction.roots[layer?.root ?? 0];
  if (layer === undefined || root === undefined) return;
  cutHardLinks(
    root,
    effects.filter((effect) => effect.root === layer.root),
  );
  await takeLayerPart(root, layer.part, Object.assign({ marker: markers[layer.root] ?? 0n }, of));
}

/** @returns the layers that have more by it */
async function keep(
  stateDir: string,
  transaction: Transaction,
  { observation, kept }: { readonly observation: Observation; readonly kept: readonly StageEffect[] },
): Promise<readonly SessionLayer[]> {
  if (kept.length > 0) {
    try {
      await commit(transaction, observation, kept);
    } catch (error) {
      if (!(error instanceof NotCommitted)) throw error;
      // The tree is as it was. After any other failure, what was taken from it may lie in the transaction.
      await removeTransaction(transaction);
      throw notKept(error);
    }
  }
  // A process that dies before this has it done at the next start, once the commit is.
  const layers = await SessionLayer.adopt(stateDir, transaction);
  // The checkpoint around it is the way back.
  if (kept.length > 0) await forgetCommit(stateDir, transaction.id);
  else await removeTransaction(transaction);
  return layers;
}

function describeLeft({ path, flags }: StageEffect): string {
  const flag = flags.find((one) => neverKept.includes(one));
  const why: Readonly<Record<string, string>> = {
    hidden: "it is hidden from commands",
    copy: "commands see a copy of it without logins",
    "name-not-utf8": "its name is no UTF-8",
    device: "it is no file",
  };
  return `${path} (${why[flag ?? ""] ?? "it cannot be kept"})`;
}

function unavailable(error: unknown): ToolFailure {
  const reason = error instanceof Error ? error.message : String(error);
  const hint = "Tell the user; commands never run outside the sandbox instead.";
  return new ToolFailure("stage_unavailable", `The command did not run, because it cannot be staged: ${reason}`, {
    failureClass: "tool_unavailable",
    hint: error instanceof StageUnavailable ? error.advice : hint,
    cause: error,
  });
}

function notRun(error: unknown): unknown {
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

export function notKept(error: NotCommitted): ToolFailure {
  return new ToolFailure(error.code, error.message, {
    failureClass: "partial_execution",
    hint: "Look at the files again, then run the command again.",
    retryable: true,
    cause: error,
  });
}
