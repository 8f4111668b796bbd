import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import type { AllowedEndpoint, Connection } from "@gennai/governance/network/connection";
import { shownName } from "@gennai/governance/shown-names";
import type { FileChange } from "@gennai/governance/tool";
import type { UncoveredKey } from "../../keys/login/user-keys.ts";
import type { AddedLogin } from "../../network/added-login.ts";
import type { WatchedNetwork } from "../../network/watched-network.ts";
import type { CommandLimits } from "../../process/group/command-limits.ts";
import type { CommandRun } from "../../process/run-command.ts";
import type { StagedTree } from "../../proposal/staged-tree.ts";
import { noteWayBack } from "../../stage/commit/way-back.ts";
import { neverKept, type StageEffect } from "../../stage/observe/effect.ts";
import { observeGit } from "../../stage/observe/git-effects.ts";
import type { ProgramHome } from "../../stage/staged-command.ts";
import { removeTransaction } from "../../stage/transaction/transaction.ts";
import type { FoundEdit } from "../found/found-edits.ts";
import { type FoundEffects, foundEffects } from "../found/found-effects.ts";
import { keepEffects, takeForLayer } from "../keep/keep-effects.ts";
import type { Stages, ZeroAccess } from "../stages/stages.ts";
import { notRun, runAndObserve } from "./observed-run.ts";

export interface StagedShellCommand {
  readonly command: CommandAnalysis;
  /** Real path, in the workspace. */
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Bytes of output that are shown while it runs; as many as are kept by default. */
  readonly liveBytes?: number | undefined;
  /** A person said yes to the command itself. */
  readonly confirmed: boolean;
  /** What a person let this one run have. */
  readonly key?: UncoveredKey | undefined;
  /** Of the program that a person starts by it. */
  readonly program?: ProgramHome | undefined;
  /** For the shell, in place of the command. */
  readonly text?: string | undefined;
  /** Private directory that is `/tmp` for it alone; the one that runs of the workspace share when undefined. */
  readonly temporary?: string | undefined;
}

export interface StagedSurroundings {
  readonly stages: Stages;
  readonly zeroAccess: ZeroAccess;
  /** The session's, in which its background runs are reached; nothing is let through there. Without it the command's is unwatched. */
  readonly network?: WatchedNetwork | undefined;
  /** What a person let this one run reach: it has a network of its own then, and reaches no background run. */
  readonly allowed?: readonly AllowedEndpoint[] | undefined;
  /** For some of `allowed`, what the run never sees: added to what it reads there. */
  readonly logins?: readonly AddedLogin[] | undefined;
  /** Whose layer the command sees, and adds to; without it, what git ignores is kept like all else. */
  readonly session?: string | undefined;
  /** What the command sees over the workspace, and adds to in place of it. */
  readonly proposal?: StagedTree | undefined;
  /** Real path. */
  readonly workspaceRoot: string;
  /** Everything the command finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the command may take of the machine; the usual limits for what is left out. */
  readonly limits?: Partial<CommandLimits>;
}

/** Changes on a stage. They are not true yet: the holder keeps or drops them. */
export interface StagedOffer extends Omit<FoundEffects, "effectsWithout" | "changes" | "edits"> {
  /** Files that can never be kept, and why, to be shown with the result. */
  readonly left: readonly string[];
  /**
   * Writes it to the workspace, except for some parts. Throws `ToolFailure` `stale_file` if others changed the same meanwhile;
   * nothing is kept then.
   *
   * @param dropped ids
   * @param title for a user without a session: what is kept can be undone later under this name
   */
  keep(dropped: ReadonlySet<string>, title?: string): Promise<KeptWork>;
  drop(): Promise<void>;
}

/** A staged command that has ended. */
export interface StagedShellRun extends StagedOffer {
  readonly run: CommandRun;
  /** What it reached, or wanted to reach. */
  readonly connections: readonly Connection[];
  /** Names that it looked up, and to which no connection was seen. */
  readonly onlyLookedUp: readonly string[];
  /** Why nothing of it may be kept, if that is known without a question. */
  readonly refused?: string | undefined;
  /** What git ignores of it goes into the layer of the session when it is kept: outermost paths, relative to the work tree. */
  readonly layered: readonly string[];
  /** Trees of that layer that the command did not see, because the workspace's own were changed meanwhile. */
  readonly stale: readonly string[];
  /** What is needed to take back all but some parts, as edits; undefined where the tree has to be kept. Before it is kept. */
  edits(dropped: ReadonlySet<string>): readonly FoundEdit[] | undefined;
}

/** What of a staged command was kept. */
export interface KeptWork {
  readonly changes: readonly FileChange[];
  /** Why later commands do not see what git ignores of it; undefined where they do. */
  readonly notInLayer: string | undefined;
}

/**
 * Runs a shell command on a stage and says what it did. Throws `ToolFailure` for a command that did not start, and for one
 * whose work cannot be looked at.
 */
export async function runStaged(
  command: StagedShellCommand,
  surroundings: StagedSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<StagedShellRun> {
  const { stages, workspaceRoot, session } = surroundings;
  const { transaction, observation, unused, layer, dropped, ...ran } = await runAndObserve(
    command,
    surroundings,
    options,
  );
  const network = surroundings.network?.network;
  const remove = async (): Promise<void> => {
    if (unused === undefined) await removeTransaction(transaction);
    else stages.giveBack(workspaceRoot, unused);
  };
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
      command: command.command,
      confirmed: command.confirmed,
      ownStashes: session === undefined ? undefined : stages.stashes.of(session),
    });
    return {
      ...found,
      ...ran,
      layered: observation.layer?.part.trees ?? [],
      stale: dropped,
      left: wanted.filter((effect) => !kept.includes(effect)).map(describeLeft),
      edits: (without) => found.edits(found.effectsWithout(without)),
      keep: async (without, title) => {
        if (unused !== undefined) {
          await remove();
          return { changes: [], notInLayer: undefined };
        }
        const wantedNow = found.effectsWithout(without);
        if (title !== undefined) noteWayBack(transaction, { workspace: workspaceRoot, title, keptAt: Date.now() });
        if (session !== undefined) {
          await takeForLayer(transaction, observation, { session, command: command.command.text });
        }
        const { layers, notInLayer } = await keepEffects(stages.stateDir, transaction, {
          observation,
          kept: wantedNow,
        });
        if (session !== undefined) stages.stashes.note(session, git.effects);
        stages.prepare(workspaceRoot, layers[0] ?? layer, network);
        return { changes: found.changes(wantedNow), notInLayer };
      },
      drop: async () => {
        await remove();
        stages.prepare(workspaceRoot, layer, network);
      },
    };
  } catch (error) {
    await remove();
    throw notRun(error);
  }
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
