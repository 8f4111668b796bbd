import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { StageConflict } from "@gennai/machine/change-set/not-committed";
import { phaseOf } from "@gennai/machine/change-set/set-journal";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { indexMeaning, readGitIndex } from "@gennai/machine/git-data/git-index";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import { thisOwner } from "@gennai/machine/process/locks/journal-owner";
import type { Observation } from "@gennai/stage/observe/effect";
import { type OpenRecord, readOpen, removeOpen, writeOpen } from "@gennai/stage/transaction/open-record";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import {
  openNames,
  openTransaction,
  removeTransaction,
  type Transaction,
  transactionDirectory,
} from "@gennai/stage/transaction/transaction";

/** The stage of a session in which an operation of git's is under way: nothing of it is in the workspace yet. */
export interface OpenStage extends OpenRecord {
  readonly transaction: Transaction;
  /** Directory of what its runs wrote in the work tree. */
  readonly changes: string;
}

/** Stages that stay open between commands. What is on disk says which there are, also after a restart. */
export class OpenStages {
  readonly #stateDir: string;
  readonly #home: string;
  /** By session: resolves when its open stage is free. */
  readonly #busy = new Map<string, Promise<void>>();

  /** @param home the user's */
  constructor(stateDir: string, home: string) {
    this.#stateDir = stateDir;
    this.#home = home;
  }

  of(session: string): OpenStage | undefined {
    return openStages(this.#stateDir).find((one) => one.session === session);
  }

  /** Waits until nothing else uses the open stage of a session. @returns what lets it go. Throws `ToolFailure` if it has ended */
  async take({ session, transaction: { directory } }: OpenStage): Promise<() => void> {
    const before = this.#busy.get(session);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#busy.set(session, promise);
    await before;
    const record = readOpen(directory);
    if (record === undefined) {
      resolve();
      throw hasEnded;
    }
    // While this process commits it, no other one takes that for a commit to recover.
    if (record.owner !== thisOwner()) writeOpen(directory, { ...record, owner: thisOwner() });
    return resolve;
  }

  /** Keeps the stage of a run for the next ones. False if the user's index changed while the first one ran. */
  hold(
    transaction: Transaction,
    { markers }: Pick<Observation, "markers">,
    about: Pick<OpenRecord, "session" | "workspace" | "operation">,
  ): boolean {
    const before = readOpen(transaction.directory);
    const own = this.#own(about.workspace);
    const index = transaction.roots.findIndex(({ path }) => own.index.startsWith(`${path}/`));
    if (before === undefined && (statIfPresent(own.index)?.ctimeNs ?? 0n) >= (markers[index] ?? 0n)) return false;
    writeOpen(transaction.directory, {
      head: own.head,
      index: meaningOf(own.index),
      at: new Date().toISOString(),
      ...before,
      ...about,
      owner: thisOwner(),
      markers: markers.map(String),
      touched: { ...touchedIn(transaction, own.index), ...before?.touched },
    });
    return true;
  }

  /** What of the user's moved since the operation began: HEAD, the index, or files that it wrote. */
  movedSince({ workspace, head, index, touched, transaction }: OpenStage): readonly string[] {
    const own = this.#own(workspace);
    const top = transaction.roots[0]?.path ?? workspace;
    return [
      ...(own.head === head ? [] : ["HEAD"]),
      ...(meaningOf(own.index) === index ? [] : ["git's index"]),
      ...Object.keys(touched).filter((path) => identityAt(join(top, path)) !== touched[path]),
    ];
  }

  /** Notes what else of the user's moved. */
  overtake({ transaction: { directory, roots } }: OpenStage, moved: readonly StageConflict[]): void {
    const record = readOpen(directory);
    const top = roots[0]?.path ?? "/";
    const touched = { ...record?.touched };
    for (const { root, path } of moved) touched[relative(top, join(root, path))] = "moved";
    if (record !== undefined) writeOpen(directory, { ...record, touched });
  }

  /** An observation that knows that the user's git only refreshed the index, and that logs were written on top of the user's. */
  withoutRefreshed(open: OpenStage, observation: Observation): Observation {
    const own = this.#own(open.workspace);
    const isSame = meaningOf(own.index) === open.index;
    const effects = observation.effects.map((effect) => {
      const path = join(open.transaction.roots[effect.root]?.path ?? "/", effect.path);
      const isOurs = (isSame && path === own.index) || own.logs.some((logs) => path.startsWith(`${logs}/`));
      return isOurs ? { ...effect, flags: effect.flags.filter((flag) => flag !== "changed-by-others") } : effect;
    });
    return { ...observation, effects };
  }

  /** Whether another git changes the repository at this moment. */
  isLocked({ workspace }: OpenStage): boolean {
    return existsSync(`${this.#own(workspace).index}.lock`);
  }

  #own(workspace: string) {
    const { writable = [] } = repositoryPaths(workspace, this.#home) ?? {};
    return {
      head: JSON.stringify(readGitHead(workspace)),
      index: join(writable.at(-1) ?? "/", "index"),
      logs: writable.map((git) => join(git, "logs")),
    };
  }
}

const hasEnded = new ToolFailure("stale_file", "The merge or rebase has ended meanwhile.", {
  hint: "Try again: its result is in the workspace now, or was dropped.",
  retryable: true,
});

/** Gives up an open stage, and all that it holds. */
export async function dropOpen({ transaction }: Pick<OpenStage, "transaction">): Promise<void> {
  removeOpen(transaction.directory);
  await removeTransaction(transaction);
}

/** Drops the open stages for which `isMeant` is true. */
export async function removeOpenStages(
  stateDir: string,
  isMeant: (of: { readonly session: string; readonly root: string }) => boolean,
): Promise<void> {
  for (const open of openStages(stateDir)) {
    if (isMeant({ session: open.session, root: open.workspace })) await dropOpen(open);
  }
}

function openStages(stateDir: string): readonly OpenStage[] {
  return openNames(stateDir).flatMap((id) => {
    const directory = transactionDirectory(stateDir, id);
    const record = readOpen(directory);
    // A commit that was begun is recovered.
    const transaction =
      record === undefined || phaseOf(directory) !== undefined ? undefined : openTransaction(stateDir, id);
    if (record === undefined || transaction === undefined) return [];
    const [root] = transaction.roots;
    return [{ ...record, transaction, changes: join(root?.directory ?? directory, stageParts.upper) }];
  });
}

/** The user's entries at the paths that a transaction wrote and git tracks, before or after. */
function touchedIn({ roots }: Transaction, index: string): Readonly<Record<string, string>> {
  const [top] = roots;
  const owner = roots.find(({ path }) => index.startsWith(`${path}/`));
  if (top === undefined || owner === undefined) return {};
  const left = join(owner.directory, stageParts.upper, relative(owner.path, index));
  const tracked = new Set([index, left].flatMap((file) => pathsOf(file)));
  const upper = join(top.directory, stageParts.upper);
  const touched: Record<string, string> = {};
  for (const path of tracked) {
    if (statIfPresent(join(upper, path)) !== undefined) touched[path] = identityAt(join(top.path, path));
  }
  return touched;
}

function pathsOf(index: string): readonly string[] {
  const entries = statIfPresent(index)?.isFile() === true ? readGitIndex(readFileSync(index)) : undefined;
  return [...(entries?.keys() ?? [])].map((key) => key.split("\0", 1)[0] ?? "");
}

function identityAt(path: string): string {
  const stat = statIfPresent(path);
  return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

/** Git rewrites its index whenever it looks at files. */
function meaningOf(index: string): string {
  return existsSync(index) ? (indexMeaning(readFileSync(index)) ?? "") : "";
}
