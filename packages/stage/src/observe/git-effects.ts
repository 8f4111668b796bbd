import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GitIndex, type IndexEntry, readGitIndex } from "@gennai/machine/git-data/git-index";
import { pathsInGit } from "@gennai/machine/git-data/git-path";
import { decoded, isRefName, readLooseRef, readPackedRefs } from "@gennai/machine/git-data/git-refs";
import { rebuiltIndex } from "@gennai/machine/git-data/rebuilt-index";
import { packedFile, RefValues } from "@gennai/machine/git-data/ref-values";
import { isWithin } from "@gennai/protocol/is-within";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import type { Transaction } from "../transaction/transaction.ts";
import type { Observation, StageEffect } from "./effect.ts";

/**
 * What a command did to a repository, in git's terms. `repository` is git's directory, relative to its root (`.git`, or empty).
 */
export type GitEffect = { readonly root: number; readonly repository: string } & (
  | { readonly type: "ref"; readonly name: string; readonly from: string | undefined; readonly to: string | undefined }
  /** Of the work tree `worktree`, or of the main one. */
  | {
      readonly type: "head";
      readonly worktree: string | undefined;
      readonly from: string | undefined;
      readonly to: string | undefined;
    }
  | { readonly type: "index"; readonly worktree: string | undefined; readonly changes: readonly IndexChange[] }
  | {
      readonly type: "reflog";
      readonly name: string;
      readonly shrinks: boolean;
      readonly entries: LogChange | undefined;
    }
  /** Decides what git runs, or where its data is; `path` is relative to git's directory. */
  | { readonly type: "control"; readonly path: string }
  /** Paths of added object files, relative to the root. Nobody has checked that they contain what their names say. */
  | { readonly type: "objects"; readonly files: readonly string[] }
  /** A file of an operation that is under way or done: `MERGE_HEAD`, `COMMIT_EDITMSG`, `rebase-merge/…`. */
  | { readonly type: "work"; readonly path: string }
  /** A file that cannot be understood, so that the repository cannot be judged: reftables, a split or damaged index or ref. */
  | { readonly type: "unreadable"; readonly path: string }
);

/** One path of the index; `from` or `to` is undefined if the index does not have the path. */
export interface IndexChange {
  readonly path: string;
  readonly from: IndexEntry | undefined;
  readonly to: IndexEntry | undefined;
}

/** New ids of the entries added at the end of a ref's log, and of those removed anywhere in it. */
export interface LogChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface GitObservation {
  readonly effects: readonly GitEffect[];
  /**
   * Effects not to be kept: deleted and changed objects, data that git trusts and can make again (commit graphs, indexes over
   * packs), locks of a killed git, an index that was only refreshed, directories that nothing kept is in.
   */
  readonly dropped: ReadonlySet<StageEffect>;
}

/** Reads what a command did to repositories, after the observation and before a commit. Runs no git. */
export function observeGit(transaction: Transaction, { effects }: Observation): GitObservation {
  const inGits = transaction.roots.map(({ path }) => pathsInGit(path));
  const repositories = new Map<string, RepositoryObserver>();
  const modules = newModules(transaction, effects);
  for (const effect of effects) {
    const root = transaction.roots[effect.root];
    const inGit = inGits[effect.root]?.(effect.path);
    if (root === undefined || inGit === undefined) continue;
    const repository = effect.path.slice(0, effect.path.length - inGit.length).replace(/\/$/, "");
    const key = `${effect.root}:${repository}`;
    const observer = repositories.get(key) ?? new RepositoryObserver(root, { index: effect.root, repository });
    repositories.set(key, observer);
    const module = modules.find((one) => one.root === effect.root && isWithin(effect.path, { directory: one.path }));
    if (module === undefined) observer.add(effect, inGit);
    else observer.addOfNewModule(effect, inGit, effect.path.slice(module.path.length + 1));
  }
  const found = [...repositories.values()].map((observer) => observer.end());
  return {
    effects: found.flatMap((one) => one.effects),
    dropped: new Set(found.flatMap((one) => one.dropped)),
  };
}

class RepositoryObserver {
  readonly #root: StagedRoot;
  readonly #index: number;
  readonly #repository: string;
  readonly #effects: GitEffect[] = [];
  readonly #dropped: StageEffect[] = [];
  readonly #before: RefValues;
  /** What the command left of refs in files of their own. */
  readonly #loose = new Map<string, string | undefined>();
  #packed: StageEffect | undefined;
  /** What the command left of the log of stashes. */
  #stashes: { readonly log: string | undefined } | undefined;
  readonly #objects: string[] = [];
  #others = 0;

  constructor(root: StagedRoot, { index, repository }: { readonly index: number; readonly repository: string }) {
    this.#root = root;
    this.#index = index;
    this.#repository = repository;
    this.#before = new RefValues(join(root.path, repository));
  }

  add(effect: StageEffect, inGit: string): void {
    const [, worktree, own = inGit] = /^worktrees\/([^/]+)\/(.+)$/.exec(inGit) ?? [];
    // A directory in place of a file removes the file.
    const sides = [effect.before, effect.after].filter((side) => side !== undefined);
    const isDirectory = sides.length > 0 && sides.every(({ type }) => type === "directory");
    const isLink = isOtherName(effect) && !(effect.after?.type === "file" && ofObjects.test(own));
    if (ofOneRun.test(own) && !isDirectory && !isLink) this.#dropped.push(effect);
    // The only links that git makes are second names of objects. It would write through any other link.
    else if (isLink) this.#push({ type: "control", path: inGit });
    // They mean nothing without their content, and git stops at one that has the name of a lock.
    else if (isDirectory && (!control.test(own) || own === "worktrees")) this.#dropped.push(effect);
    else if (control.test(own) || /^(?:modules|reftable)(?:\/|$)/.test(own)) {
      this.#push(/^reftable/.test(own) ? { type: "unreadable", path: inGit } : { type: "control", path: inGit });
    }
    // A file or link in place of git's directory decides which directory git uses.
    else if (own === "") this.#push({ type: "control", path: inGit });
    else if (ofObjects.test(own)) this.#object(effect, own);
    else if (own.startsWith("refs/")) this.#looseRef(effect, inGit, own);
    else if (own === packedFile) this.#packed = effect;
    else if (own === "HEAD") this.#head(effect, inGit, worktree);
    else if (own === "index") this.#gitIndex(effect, inGit, worktree);
    else if (own.startsWith("logs/")) this.#reflog(effect, own.slice("logs/".length));
    else this.#push(work.test(own) ? { type: "work", path: inGit } : { type: "control", path: inGit });
  }

  /** Data of a submodule that did not exist before: only its settings are examined. @param own path in the module */
  addOfNewModule(effect: StageEffect, inGit: string, own: string): void {
    const isFile = effect.after?.type === "file";
    if (effect.after?.type === "directory") return;
    if (isFile && ofObjects.test(own) && !control.test(own)) this.#object(effect, own);
    else if (isFile && (ordinaryInModule.test(own) || (own === "info/exclude" && this.#saysNothing(effect))))
      this.#others += 1;
    else this.#push({ type: "control", path: inGit });
  }

  /** True if the file has only comments, as git itself writes it. */
  #saysNothing(effect: StageEffect): boolean {
    return (this.#texts(effect).after ?? "").split("\n").every((line) => line === "" || line.startsWith("#"));
  }

  end(): { readonly effects: readonly GitEffect[]; readonly dropped: readonly StageEffect[] } {
    this.#refs();
    this.#checkStashes();
    if (this.#objects.length + this.#others > 0) this.#push({ type: "objects", files: this.#objects });
    return { effects: this.#effects, dropped: this.#dropped };
  }

  /**
   * Notes an added object; other changes are dropped, because removing an object removes history. @param own in git's directory
   */
  #object(effect: StageEffect, own: string): void {
    if (effect.change === "created" && objectFile.test(own)) this.#objects.push(effect.path);
    else this.#dropped.push(effect);
  }

  #looseRef(effect: StageEffect, inGit: string, name: string): void {
    const { from, to, isRead } = this.#ref(effect);
    // Git stops at a name that it does not read. A branch that is another name of one would move that one.
    if (
      !isRead ||
      (to !== undefined && !isRefName(name)) ||
      (name.startsWith("refs/heads/") && to?.startsWith("ref: "))
    )
      this.#push({ type: "unreadable", path: inGit });
    else if (from !== to) this.#loose.set(name, to);
  }

  /** The changed refs. A loose ref hides the packed ref of the same name. */
  #refs(): void {
    const before = this.#before.packed;
    const after = this.#packed === undefined ? before : readPackedRefs(this.#texts(this.#packed).after ?? "");
    if (before === undefined || after === undefined) return this.#push({ type: "unreadable", path: packedFile });
    for (const name of new Set([...this.#loose.keys(), ...before.keys(), ...after.keys()])) {
      if (!this.#loose.has(name) && before.get(name) === after.get(name)) continue;
      const from = this.#before.value(name);
      const to = (this.#loose.has(name) ? this.#loose.get(name) : this.#before.loose(name)) ?? after.get(name);
      if (from !== to) this.#push({ type: "ref", name, from, to });
    }
  }

  /** Git takes the newest stash from the ref, and all of them from its log. */
  #checkStashes(): void {
    if (this.#stashes === undefined && !this.#loose.has(stashes)) return;
    const ref = this.#loose.has(stashes) ? this.#loose.get(stashes) : this.#before.value(stashes);
    const log = this.#stashes === undefined ? this.#before.text(`logs/${stashes}`) : this.#stashes.log;
    if (idsOf(entriesOf(log ?? "")).at(-1) !== ref) this.#push({ type: "unreadable", path: stashes });
  }

  #head(effect: StageEffect, inGit: string, worktree: string | undefined): void {
    const { from, to, isRead } = this.#ref(effect);
    // Without it, git finds no repository.
    const isThere = to !== undefined || worktree !== undefined;
    if (!isRead || !isThere) this.#push({ type: "unreadable", path: inGit });
    else if (from !== to) this.#push({ type: "head", worktree, from, to });
  }

  #ref(effect: StageEffect) {
    const { before, after } = this.#texts(effect);
    const [from, to] = [before, after].map((text) => readLooseRef(decoded(text ?? "")));
    const isRead = (from === undefined) === (before === undefined) && (to === undefined) === (after === undefined);
    return { from, to, isRead };
  }

  #gitIndex(effect: StageEffect, inGit: string, worktree: string | undefined): void {
    const { before, after } = this.#files(effect);
    const from = before === undefined ? new Map<string, IndexEntry>() : readGitIndex(before);
    const own = before === undefined ? undefined : { bytes: before, mtimeNs: 0n };
    const to = after === undefined ? new Map<string, IndexEntry>() : readGitIndex(rebuiltIndex(after, own) ?? after);
    const isGone = after === undefined && worktree === undefined;
    if (from === undefined || to === undefined || isGone) return this.#push({ type: "unreadable", path: inGit });
    const changes = compareIndexes(from, to);
    if (changes.length > 0 || effect.change !== "changed") this.#push({ type: "index", worktree, changes });
    else this.#dropped.push(effect);
  }

  #reflog(effect: StageEffect, name: string): void {
    const { before, after } = this.#texts(effect);
    if (name === stashes) this.#stashes = { log: after };
    // What others added since the look is not in it, and the commit says so.
    const isFound = effect.before?.type === "file" && effect.before.size === before?.length;
    const shrinks = isFound && after?.startsWith(before ?? "") !== true;
    this.#push({ type: "reflog", name, shrinks, entries: logChange(before ?? "", after ?? "") });
  }

  #texts(effect: StageEffect): { readonly before: string | undefined; readonly after: string | undefined } {
    const { before, after } = this.#files(effect);
    return { before: before?.toString("latin1"), after: after?.toString("latin1") };
  }

  #files({ path, before, after }: StageEffect) {
    return {
      before: before?.type === "file" ? readFileSync(join(this.#root.path, path)) : undefined,
      after: after?.type === "file" ? readFileSync(join(this.#root.directory, stageParts.upper, path)) : undefined,
    };
  }

  #push(effect: Distribute<GitEffect>): void {
    this.#effects.push({ root: this.#index, repository: this.#repository, ...effect });
  }
}

/** True for a link, a new file with a second name, and entries that are neither file nor directory. */
function isOtherName({ change, after, flags }: StageEffect): boolean {
  if (after === undefined || after.type === "directory") return false;
  return after.type !== "file" || (change === "created" && flags.includes("hard-link"));
}

type Distribute<Effect> = Effect extends GitEffect ? Omit<Effect, "root" | "repository"> : never;

/** Undefined if entries were changed in another way. */
function logChange(before: string, after: string): LogChange | undefined {
  const [was, is] = [entriesOf(before), entriesOf(after)];
  const stays = new Set(was.filter((entry) => is.includes(entry)));
  const [added, removed] = [is, was].map((entries) => entries.filter((entry) => !stays.has(entry)));
  const isThat = is.join("\n") === [...was.filter((entry) => stays.has(entry)), ...(added ?? [])].join("\n");
  return isThat ? { added: idsOf(added), removed: idsOf(removed) } : undefined;
}

/** The entries of a log without their old ids, which git rewrites when the entry before is removed. */
function entriesOf(log: string): readonly string[] {
  return log.split("\n").flatMap((line) => (line === "" ? [] : [line.slice(line.indexOf(" ") + 1)]));
}

function idsOf(entries: readonly string[] = []): readonly string[] {
  return entries.map((entry) => entry.split(" ", 1)[0] ?? "");
}

function compareIndexes(from: GitIndex, to: GitIndex): readonly IndexChange[] {
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((path) => {
    const change = { path, from: from.get(path), to: to.get(path) };
    return isSameEntry(change.from, change.to) ? [] : [change];
  });
}

function isSameEntry(one: IndexEntry | undefined, other: IndexEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.mode === other.mode && one.object === other.object && one.intentToAdd === other.intentToAdd;
}

/** Directories of submodules that a command created; an inner one comes before the one around it. */
function newModules(
  { roots }: Transaction,
  effects: readonly StageEffect[],
): readonly Pick<StageEffect, "root" | "path">[] {
  const made = effects.flatMap(({ root, path, change, after }) => {
    const module = /^((?:.*\/)?modules\/.+)\/HEAD$/.exec(path)?.[1];
    const place = roots[root]?.path;
    const isNew = change === "created" && after?.type === "file" && module !== undefined && place !== undefined;
    return isNew && !existsSync(join(place, module)) ? [{ root, path: module }] : [];
  });
  return made.toSorted((one, other) => other.path.length - one.path.length);
}

const stashes = "refs/stash";

/** Git LFS keeps its own apart. */
const ofObjects = /^(?:objects|lfs)\//;
/** Files of objects. Git's other files there can be made again, and git would trust their content. */
const objectFile =
  /^(?:objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.(?:pack|idx|keep|promisor))|lfs\/objects\/(..)\/(..)\/\1\2[0-9a-f]{60})$/;
/** Usual files of a new repository. Git never runs a hook with one of these names. */
const ordinaryInModule =
  /^(?:HEAD|ORIG_HEAD|FETCH_HEAD|index|packed-refs|shallow|description|(?:logs|refs)\/.+|hooks\/[\w-]+\.sample)$/;
/**
 * Files that mean nothing after a run: locks, texts that were edited, lists that git makes again, resolutions of conflicts, and
 * parts of an index, which is only kept whole.
 */
const ofOneRun =
  /\.lock$|^(?:[A-Z]+_EDITMSG|MERGE_RR|description|gc\.log|info\/refs|rr-cache\/.+|sharedindex\.[0-9a-f]+)$/;
const control =
  /^(?:(?:config|config\.worktree|commondir|gitdir|hooks|worktrees|objects\/info\/(?:http-)?alternates)(?:\/|$)|info\/(?!refs$))/;
const work =
  /^(?:[A-Z_]+_HEAD|[A-Z]+_(?:MSG|MODE|LOG|START|TERMS|NAMES)|AUTO_MERGE|rebase-(?:merge|apply)\/.+|sequencer\/.+)$/;
