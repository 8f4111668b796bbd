import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { FileChange } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { pathsInGit } from "../../git-data/git-path.ts";
import type { FileState } from "../../proposal/staged-file.ts";
import type { FileBytes, StagedTree, StagedUpdate } from "../../proposal/staged-tree.ts";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import type { Entry } from "../../stage/files/look-at-entry.ts";
import { neverKept, type StageEffect } from "../../stage/observe/effect.ts";
import { type GitEffect, observeGit } from "../../stage/observe/git-effects.ts";
import { stageParts } from "../../stage/transaction/staged-root.ts";
import { removeTransaction, type Transaction } from "../../stage/transaction/transaction.ts";
import { sha256 } from "../../workspace/files/content-digest.ts";
import { foundEffects } from "../found/found-effects.ts";
import { keepEffects, takeForLayer } from "../keep/keep-effects.ts";
import { notRun, runAndObserve } from "./observed-run.ts";
import { describeLeft, type StagedShellCommand, type StagedShellRun, type StagedSurroundings } from "./run-staged.ts";

/** What a command did to one file, compared with what was proposed before. */
interface ProposedEffect {
  readonly effect: StageEffect;
  /** Relative to the workspace. */
  readonly path: string;
}

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
      refused: refusal(gitEffects),
      layered: observation.layer?.part.trees ?? [],
      stale: dropped,
      left: [
        ...left.map(describeLeftOut),
        ...(gitEffects.some(({ type }) => type === "index")
          ? ["git's index (it stays as it is until the user commits)"]
          : []),
      ],
      edits: () => [],
      keep: async (without) => {
        const kept = new Set(found.effectsWithout(without));
        if (session !== undefined) {
          await takeForLayer(transaction, observation, { session, command: command.command.text });
        }
        let changes: readonly FileChange[];
        try {
          if (proposal.digest !== before) throw movedOn("What is proposed changed meanwhile");
          changes = work.stage(kept, command.command.text);
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

/** The changes that a command made to the proposal, and those that cannot be proposed. */
class ProposedWork {
  readonly changed: readonly ProposedEffect[];
  readonly left: readonly StageEffect[];
  /** Proposed files that equal those of the workspace again. */
  readonly #reverted: readonly string[];
  readonly #transaction: Transaction;
  readonly #proposal: StagedTree;
  readonly #workspaceRoot: string;

  constructor(
    transaction: Transaction,
    {
      workspaceRoot,
      proposal,
      effects,
    }: { readonly workspaceRoot: string; readonly proposal: StagedTree; readonly effects: readonly StageEffect[] },
  ) {
    this.#transaction = transaction;
    this.#proposal = proposal;
    this.#workspaceRoot = workspaceRoot;
    const inGit = transaction.roots.map(({ path }) => pathsInGit(path));
    const changed: ProposedEffect[] = [];
    const left: StageEffect[] = [];
    const seen = new Set<string>();
    for (const effect of effects) {
      if (inGit[effect.root]?.(effect.path) !== undefined) continue;
      const path = this.#pathOf(effect);
      seen.add(path ?? "");
      const [was, is] = [effect.before, effect.after].map(kindOf);
      // A directory exists only as long as a file is in it.
      if ((was === "none" || was === "directory") && (is === "none" || is === "directory")) continue;
      const isFile = (was === "none" || was === "file") && (is === "none" || is === "file");
      if (path === undefined || !isFile || effect.flags.some((flag) => neverKept.includes(flag))) left.push(effect);
      else if (!isStagedSo(proposal, path, effect)) changed.push({ effect, path });
    }
    this.changed = changed;
    this.left = left;
    this.#reverted = [...proposal.files.keys()].filter((path) => !seen.has(path));
  }

  /**
   * Adds the changes to the staged tree. Throws `ToolFailure`: `stale_file` if others changed the same files meanwhile;
   * `too_large` before any of it is read.
   */
  stage(kept: ReadonlySet<StageEffect>, command: string): readonly FileChange[] {
    const changes: FileChange[] = [];
    const wanted = this.changed.filter(({ effect }) => kept.has(effect));
    this.#proposal.refuseTooMuch(
      wanted.map(({ effect, path }) => ({ path, base: sizeOf(effect.before), staged: sizeOf(effect.after) })),
    );
    const updates = wanted.map(({ effect, path }): StagedUpdate => {
      const { before, after, movedFrom } = effect;
      const known = this.#proposal.files.get(path);
      // For a path that was proposed before, the base is known already.
      const base = known === undefined ? this.#base(effect) : undefined;
      const staged = after?.type === "file" ? this.#staged(effect, after.mode) : undefined;
      const was = known === undefined ? (before?.type === "file" ? before.sha256 : undefined) : known.staged?.sha256;
      changes.push({
        path,
        operation: staged === undefined ? "delete" : was === undefined ? "create" : "update",
        beforeSha256: was,
        afterSha256: after?.type === "file" ? after.sha256 : undefined,
        blocks: [],
      });
      const from = movedFrom === undefined ? undefined : this.#pathOf({ root: effect.root, path: movedFrom });
      return { path, base, staged, command, movedFrom: from };
    });
    for (const path of this.#reverted) {
      const file = this.#proposal.files.get(path);
      if (file === undefined) continue;
      const base = this.#bytes(file.base);
      updates.push({ path, base, staged: base, command });
      changes.push({
        path,
        operation: file.base === null ? "delete" : file.staged === null ? "create" : "update",
        beforeSha256: file.staged?.sha256,
        afterSha256: file.base?.sha256,
        blocks: [],
      });
    }
    this.#proposal.update(updates);
    return changes;
  }

  #bytes(state: FileState | null): FileBytes | undefined {
    return state === null ? undefined : { bytes: this.#proposal.content(state.sha256), mode: state.mode };
  }

  #base(effect: StageEffect): FileBytes | undefined {
    const { before, path } = effect;
    const root = this.#transaction.roots[effect.root];
    if (effect.flags.includes("changed-by-others")) throw movedOn(`${path} was changed by somebody else meanwhile`);
    if (before?.type !== "file" || root === undefined) return undefined;
    const bytes = readFileSync(`${root.path}/${path}`);
    if (sha256(bytes) !== before.sha256) throw movedOn(`${path} was changed by somebody else meanwhile`);
    return { bytes, mode: before.mode & permissions };
  }

  #staged(effect: StageEffect, mode: number): FileBytes {
    const directory = this.#transaction.roots[effect.root]?.directory ?? "";
    return { bytes: readFileSync(`${directory}/${stageParts.upper}/${effect.path}`), mode: mode & permissions };
  }

  /** Undefined for a path outside of the workspace. */
  #pathOf({ root, path }: Pick<StageEffect, "root" | "path">): string | undefined {
    const absolute = `${this.#transaction.roots[root]?.path ?? ""}/${path}`;
    return isWithin(absolute, this.#workspaceRoot) ? relative(this.#workspaceRoot, absolute) : undefined;
  }
}

const permissions = 0o777;

function sizeOf(entry: Entry | undefined): number {
  return entry?.type === "file" ? entry.size : 0;
}

function kindOf(entry: Entry | undefined): Entry["type"] | "none" {
  return entry?.type ?? "none";
}

function isStagedSo(proposal: StagedTree, path: string, { after }: StageEffect): boolean {
  const file = proposal.files.get(path);
  if (file === undefined) return false;
  if (after?.type !== "file") return file.staged === null;
  return file.staged?.sha256 === after.sha256 && file.staged?.mode === (after.mode & permissions);
}

function describeLeftOut(effect: StageEffect): string {
  const { path, before, after, flags } = effect;
  if (flags.some((flag) => neverKept.includes(flag))) return describeLeft(effect);
  const isLink = before?.type === "link" || after?.type === "link";
  return `${path} (${isLink ? "a link cannot be proposed" : "it is not a file of the workspace"})`;
}

/** Why the work is refused if git's data changed: it cannot be proposed, and would be lost with the files that belong to it. */
function refusal(effects: readonly GitEffect[]): string | undefined {
  const moved = effects.find(({ type }) => type !== "index" && type !== "objects" && type !== "work");
  if (moved === undefined) return undefined;
  const what = moved.type === "ref" ? moved.name : moved.type === "head" ? "HEAD" : "git's own files";
  return (
    `it changed ${what}, and in Proposal Mode git's data stays as it is. Do without commits, branches and stashes: ` +
    "what you change in files is proposed at the end, and the user commits it"
  );
}

function movedOn(reason: string): ToolFailure {
  return new ToolFailure("stale_file", `${reason}, so nothing that the command changed was kept.`, {
    failureClass: "partial_execution",
    hint: "Look at the files again, then run the command again.",
    retryable: true,
  });
}
