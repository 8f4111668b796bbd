import type { FileChange } from "@gennai/governance/tool";
import { neverKept, type StageEffect } from "@gennai/stage/observe/effect";
import { type GitEffect, observeGit } from "@gennai/stage/observe/git-effects";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import { foundEffects } from "../found/found-effects.ts";
import { keepEffects, takeForLayer } from "../found/keep-effects.ts";
import type { StagedTree } from "../proposal/staged-tree.ts";
import { halfByName } from "./half-by-name.ts";
import { notRun, runAndObserve } from "./observed-run.ts";
import { movedOn, ProposedWork } from "./proposed-work.ts";
import {
  describeDropped,
  describeLeft,
  type StagedShellCommand,
  type StagedShellRun,
  type StagedSurroundings,
} from "./run-staged.ts";

/**
 * Runs a shell command over the workspace with all proposed changes. When its changes are kept, they are proposed as well. The
 * workspace and git's data stay as they are: a command that moved refs or HEAD is refused.
 */
export async function runProposed(
  command: StagedShellCommand,
  surroundings: StagedSurroundings & { readonly proposal: StagedTree },
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<StagedShellRun> {
  const { stages, workspaceRoot, session, proposal } = surroundings;
  const before = proposal.digest;
  const {
    transaction,
    observation,
    ignored,
    layer,
    dropped,
    signs: _,
    operation: __,
    ...ran
  } = await runAndObserve(command, surroundings, options);
  try {
    const work = new ProposedWork(transaction, { workspaceRoot, proposal, effects: observation.effects });
    const { effects: gitEffects, dropped: gitDropped } = observeGit(transaction, observation);
    const left = work.left.filter((effect) => !gitDropped.has(effect));
    const found = await foundEffects({
      transaction,
      effects: work.changed.map(({ effect }) => effect),
      git: [],
      ignored,
      workspaceRoot,
      home: stages.home,
      leads: stages.leads(workspaceRoot),
      command: command.command,
      confirmed: command.confirmed,
    });
    return {
      ...found,
      ...ran,
      refused: refusal(gitEffects) ?? halfByName(observation.effects, []),
      layered: observation.layer?.part.there ?? [],
      stale: dropped,
      left: [
        ...left.map(describeLeftOut),
        ...describeDropped(observation),
        ...(gitEffects.some(({ type }) => type === "index")
          ? ["git's index (it stays as it is until the user commits)"]
          : []),
      ],
      edits: () => ({ files: [], directories: [] }),
      keep: async (without) => {
        const kept = new Set(found.effectsWithout(without));
        if (session !== undefined) {
          await takeForLayer(transaction, observation, { session, command: command.command.text });
        }
        let changes: readonly FileChange[];
        try {
          if (proposal.digest !== before) throw movedOn("What is proposed changed meanwhile");
          const staged = work.updates(kept, command.command.text);
          proposal.update(staged.updates);
          changes = staged.changes;
        } catch (error) {
          await removeTransaction(transaction);
          throw error;
        }
        const { layers, notInLayer } = await keepEffects(stages.stateDir, transaction, { observation, kept: [] });
        stages.prepare(workspaceRoot, layers[0] ?? layer, surroundings.network?.network);
        return { changes, notInLayer };
      },
      drop: async () => {
        await removeTransaction(transaction);
        stages.prepare(workspaceRoot, layer, surroundings.network?.network);
      },
    };
  } catch (error) {
    await removeTransaction(transaction);
    throw notRun(error);
  }
}

function describeLeftOut(effect: StageEffect): string {
  const { path, before, after, flags } = effect;
  if (flags.some((flag) => neverKept.includes(flag))) return describeLeft(effect);
  const isLink = before?.type === "link" || after?.type === "link";
  return `${path} (${isLink ? "a link cannot be proposed" : "it is not a file of the workspace"})`;
}

/**
 * Why the work is refused if git's data changed: it cannot be proposed, and would be lost with the files that belong to it. So would
 * a merge that is under way: what is proposed of it would become a commit with one parent.
 */
function refusal(effects: readonly GitEffect[]): string | undefined {
  const moved = effects.find((effect) => {
    if (effect.type === "index") return effect.changes.some(({ path, to }) => to !== undefined && /\0[1-3]/.test(path));
    return effect.type === "work" ? underWay.test(effect.path) : effect.type !== "objects";
  });
  if (moved === undefined) return undefined;
  const isUnderWay = moved.type === "index" || moved.type === "work";
  const what = isUnderWay
    ? "what git has under way"
    : moved.type === "ref"
      ? moved.name
      : moved.type === "head"
        ? "HEAD"
        : "git's own files";
  return (
    `it changed ${what}, and in Proposal Mode git's data stays as it is. Do without commits, branches, merges and stashes: ` +
    "what you change in files is proposed at the end, and the user commits it"
  );
}

const underWay =
  /(?:^|\/)(?:(?:MERGE|CHERRY_PICK|REVERT|REBASE)_HEAD|BISECT_\w+|(?:rebase-(?:merge|apply)|sequencer)\/.+)$/;
