import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { FileChange } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Entry } from "@gennai/machine/entries/look-at-entry";
import { pathsInGit } from "@gennai/machine/git-data/git-path";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { isWithin } from "@gennai/protocol/is-within";
import { neverKept, type StageEffect } from "@gennai/stage/observe/effect";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import type { Transaction } from "@gennai/stage/transaction/transaction";
import type { FileState } from "../proposal/staged-file.ts";
import type { FileBytes, StagedTree, StagedUpdate } from "../proposal/staged-tree.ts";

/** What a command did to one file, compared with what was proposed before. */
interface ProposedEffect {
  readonly effect: StageEffect;
  /** Relative to the workspace. */
  readonly path: string;
}

/** The changes that a command made to the proposal, and those that cannot be proposed. */
export class ProposedWork {
  readonly changed: readonly ProposedEffect[];
  readonly left: readonly StageEffect[];
  /** Proposed files that equal those of the workspace again. */
  readonly #reverted: readonly string[];
  readonly #transaction: Transaction;
  readonly #proposal: StagedTree;
  readonly #workspaceRoot: string;
  readonly #mayConflict: boolean;

  constructor(
    transaction: Transaction,
    {
      workspaceRoot,
      proposal,
      effects,
      mayConflict = false,
    }: {
      readonly workspaceRoot: string;
      readonly proposal: StagedTree;
      readonly effects: readonly StageEffect[];
      /** Files that others changed meanwhile are staged as well, as conflicts. */
      readonly mayConflict?: boolean;
    },
  ) {
    this.#mayConflict = mayConflict;
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
      // A directory exists only as long as a file is in it; of what no name can say, nothing is known.
      const isKnown = effect.before !== undefined || effect.after !== undefined;
      if (isKnown && (was === "none" || was === "directory") && (is === "none" || is === "directory")) continue;
      const isFile = (was === "none" || was === "file") && (is === "none" || is === "file");
      if (path === undefined || !isFile || effect.flags.some((flag) => neverKept.includes(flag))) left.push(effect);
      else if (!isStagedSo(proposal, path, effect)) changed.push({ effect, path });
    }
    this.changed = changed;
    this.left = left;
    this.#reverted = [...proposal.files.keys()].filter((path) => !seen.has(path));
  }

  /**
   * The changes for the staged tree, with all contents. Throws `ToolFailure`: `stale_file` if others changed the same files
   * meanwhile; `too_large` before any of it is read.
   */
  updates(kept: ReadonlySet<StageEffect>, command: string) {
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
    return { updates, changes };
  }

  #bytes(state: FileState | null): FileBytes | undefined {
    return state === null ? undefined : { bytes: this.#proposal.content(state.sha256), mode: state.mode };
  }

  #base(effect: StageEffect): FileBytes | undefined {
    const { before, path } = effect;
    const root = this.#transaction.roots[effect.root];
    if (effect.flags.includes("changed-by-others") && this.#mayConflict) return undefined;
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
    return isWithin(absolute, { directory: this.#workspaceRoot }) ? relative(this.#workspaceRoot, absolute) : undefined;
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

export function movedOn(reason: string): ToolFailure {
  return new ToolFailure("stale_file", `${reason}, so nothing that the command changed was kept.`, {
    failureClass: "partial_execution",
    hint: "Look at the files again, then run the command again.",
    retryable: true,
  });
}
