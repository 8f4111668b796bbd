import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { IgnoredPaths } from "@gennai/git/ignored-paths";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { WorkspacePath } from "@gennai/governance/effect";
import { type AgreedControl, agreedControl, nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { type ControlPath, controlPath } from "@gennai/governance/policies/files/control-paths";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { type GitIndex, type IndexEntry, readGitIndex } from "@gennai/machine/git-data/git-index";
import { type PathInGit, pathsInGit } from "@gennai/machine/git-data/git-path";
import { type RepositoryPaths, repositoryPaths } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";
import type { ControlLeads } from "@gennai/stage/cover/covered-tree";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { GitEffect } from "@gennai/stage/observe/git-effects";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import type { Transaction } from "@gennai/stage/transaction/transaction";
import { type ControlTargets, controlTargets, targetControl, userConfigurations } from "./control-targets.ts";

/** What a staged command left, and what is known about the run. */
export interface StagedWorkOptions {
  readonly transaction: Transaction;
  /** The effects that may be kept. */
  readonly effects: readonly StageEffect[];
  readonly git: readonly GitEffect[];
  /** What git ignores in the work tree, if it was asked before. */
  readonly ignored?: IgnoredPaths | undefined;
  /** The changes that git's status will not show. */
  readonly unshown?: ReadonlySet<StageEffect> | undefined;
  /** The changes that hold also what the user saved while the command ran. */
  readonly merged?: ReadonlySet<StageEffect> | undefined;
  /** Real path. */
  readonly workspaceRoot: string;
  /** The user's. */
  readonly home: string;
  /** Paths and links that lead to files which tools obey. */
  readonly leads: ControlLeads;
  readonly command: CommandAnalysis;
  /** True if a person allowed the command itself. */
  readonly confirmed: boolean;
  /** True if a person let it use a login of theirs: what git notes of a remote is then as agreed. */
  readonly usesLogin?: boolean;
  /** True if that was all that a person was asked about it: an install's own changes are then as agreed. */
  readonly mayInstall?: boolean;
  /** Whether the session works on a branch. */
  readonly isOwnBranch?: ((name: string) => boolean) | undefined;
  /** Whether the session made a branch, and left it at the commit. */
  readonly isOwnTip?: ((name: string, id: string) => boolean) | undefined;
  /** Whether a command of the session stashed the commit. */
  readonly isOwnStash?: ((id: string) => boolean) | undefined;
}

/** What a staged command left, next to the unchanged workspace. Nothing of it is kept yet. */
export class StagedWork {
  readonly effects: readonly StageEffect[];
  readonly git: readonly GitEffect[];
  readonly workspaceRoot: string;
  readonly repository: RepositoryPaths | undefined;
  readonly usesLogin: boolean;
  /** What git ignores in the work tree. */
  readonly ignored: IgnoredPaths;
  readonly unshown: ReadonlySet<StageEffect>;
  readonly merged: ReadonlySet<StageEffect>;
  /** What the person who allowed the command agreed to; undefined if nobody was asked. */
  readonly agreed: AgreedControl;
  readonly #transaction: Transaction;
  /** By root. */
  readonly #inGit: readonly PathInGit[];
  /** What git tracked before the command. */
  readonly #index: GitIndex;
  readonly #byPath: ReadonlyMap<string, StageEffect>;
  readonly #home: string;
  readonly #leads: ControlLeads;
  readonly #isOwnBranch: (name: string) => boolean;
  readonly #isOwnTip: (name: string, id: string) => boolean;
  readonly #isOwnStash: (id: string) => boolean;
  readonly #command: CommandAnalysis;
  #targets: ControlTargets | undefined;

  constructor({
    transaction,
    effects,
    git,
    ignored,
    unshown = new Set(),
    merged = new Set(),
    workspaceRoot,
    home,
    leads,
    command,
    confirmed,
    usesLogin = false,
    mayInstall = false,
    isOwnBranch = () => false,
    isOwnTip = () => false,
    isOwnStash = () => false,
  }: StagedWorkOptions) {
    this.usesLogin = usesLogin;
    this.#isOwnBranch = isOwnBranch;
    this.#isOwnTip = isOwnTip;
    this.#isOwnStash = isOwnStash;
    this.#command = command;
    this.#home = home;
    this.#leads = leads;
    this.#transaction = transaction;
    this.#inGit = transaction.roots.map(({ path }) => pathsInGit(path));
    this.effects = effects;
    this.git = git;
    this.unshown = unshown;
    this.merged = merged;
    this.workspaceRoot = workspaceRoot;
    this.repository = repositoryPaths(workspaceRoot, home);
    // A repository may have appeared meanwhile.
    this.ignored = ignored?.directory === this.top ? ignored : new IgnoredPaths(this.top);
    const all = agreedControl(command);
    const ofInstall = mayInstall ? { installs: all.installs, manifests: all.manifests } : {};
    this.agreed = confirmed ? all : { ...nothingAgreed, ...ofInstall };
    // Not read if nothing changed.
    this.#index = effects.length + git.length === 0 ? new Map() : indexOf(this.repository);
    this.#byPath = new Map(effects.map((effect) => [this.absolute(effect), effect]));
  }

  /** Top of the work tree. */
  get top(): string {
    return this.repository?.workTree ?? this.workspaceRoot;
  }

  /** Directories of git's objects that the command made. */
  get newObjects(): readonly string[] {
    const places = this.#transaction.roots.flatMap(({ path, directory }) => {
      const git = this.repository?.writable.find((each) => isWithin(each, { directory: path }));
      return git === undefined ? [] : [join(directory, stageParts.upper, relative(path, git), "objects")];
    });
    return places.filter((path) => statIfPresent(path)?.isDirectory() === true);
  }

  absolute({ root, path }: Pick<StageEffect, "root" | "path">): string {
    return join(this.#transaction.roots[root]?.path ?? "/", path);
  }

  /** Path of an entry as the command left it, until it is kept. */
  placeOf({ root, path }: Pick<StageEffect, "root" | "path">): string {
    return join(this.#transaction.roots[root]?.directory ?? "/", stageParts.upper, path);
  }

  workspacePath(absolute: string): WorkspacePath {
    const inside = isWithin(absolute, { directory: this.workspaceRoot });
    const name = inside ? relative(this.workspaceRoot, absolute) : "";
    return { raw: inside ? name : absolute, relative: name, absolute, inside };
  }

  isInGit({ root, path }: StageEffect): boolean {
    return this.#inGit[root]?.(path) !== undefined;
  }

  /** Absolute path of git's directory that contains a path, if it is not the workspace's own. */
  repositoryOf(effect: StageEffect): string | undefined {
    const path = this.absolute(effect);
    if (this.repository?.writable.some((directory) => isWithin(path, { directory })) === true) return undefined;
    const [, git] = /^(.*\/\.git)(?:\/|$)/.exec(path) ?? [];
    return git === undefined || this.isModuleLink(git) ? undefined : git;
  }

  /** The tag, or the branch that HEAD is on neither before nor after the command, whose file or log the command wrote. */
  refOf({ root, path, before, after }: StageEffect): string | undefined {
    if (after?.type !== "file" || before?.type === "directory") return undefined;
    const inGit = this.#inGit[root]?.(path) ?? "";
    const [, ref] = /^(?:logs\/)?(refs\/(?:heads|remotes|tags)\/.+)$/.exec(inGit) ?? [];
    const isOwn = join(this.repository?.writable[0] ?? "/", inGit) === this.absolute({ root, path });
    if (!isOwn || ref === undefined) return undefined;
    const now = readGitHead(this.workspaceRoot);
    const moves = this.git.flatMap((effect) => (effect.type === "head" ? [effect.from, effect.to] : []));
    const isOfHead = moves.includes(`ref: ${ref}`) || (now.type === "branch" && ref === `refs/heads/${now.branch}`);
    return isOfHead ? undefined : ref;
  }

  /**
   * Whether a `.git` file names a repository that is a submodule of the workspace's own, and recorded in git's index at its
   * place.
   * @param git absolute path of a `.git`
   */
  isModuleLink(git: string): boolean {
    const place = dirname(git);
    const [, target] = /^gitdir: ([^\0\n]+)\n$/.exec(this.shown(git)?.toString("utf8") ?? "") ?? [];
    if (target === undefined || this.#index.get(relative(this.top, place))?.mode !== "160000") return false;
    const module = resolve(place, target);
    const isOwn =
      this.repository?.writable.some((directory) => isWithin(module, { directory: join(directory, "modules") })) ===
      true;
    return isOwn && this.shown(join(module, "HEAD")) !== undefined;
  }

  /**
   * Whether a log lost only what the session itself had stashed, and no more than the command says to put back (`git stash pop`).
   * The log of stashes is the only way back to the user's stashes, and to what the agent throws away.
   */
  popsOwnStash({ name, entries }: GitEffect & { readonly type: "reflog" }): boolean {
    if (name !== "refs/stash" || entries === undefined) return false;
    const pops = this.#command.commands.filter(
      (command) => command.name === "git" && command.words[0] === "stash" && command.words[1] === "pop",
    );
    return entries.removed.length <= pops.length && entries.removed.every(this.#isOwnStash);
  }

  /** Whether HEAD goes to a branch that the session works on, and moves it; or one that the session made is removed as it left it. */
  movesOwnBranch({ name, from, to }: GitEffect & { readonly type: "ref" }): boolean {
    const [, branch] = /^refs\/heads\/(.+)$/s.exec(name) ?? [];
    if (branch === undefined) return false;
    if (to === undefined) return from !== undefined && this.#isOwnTip(branch, from);
    const isHeads = this.git.some(
      (one) => one.type === "head" && one.to === `ref: ${name}` && this.isOfOwnTree(one, one.worktree),
    );
    return isHeads && this.#isOwnBranch(branch);
  }

  /** Whether the effect is on the workspace's own repository, or a part of it. */
  isOwn({ root, repository }: GitEffect): boolean {
    const git = this.absolute({ root, path: repository });
    return this.repository?.writable.some((directory) => isWithin(git, { directory })) === true;
  }

  /** Whether the effect is on the workspace's own work tree, not on another work tree of the repository or on a submodule. */
  isOfOwnTree({ root, repository }: Pick<GitEffect, "root" | "repository">, worktree: string | undefined): boolean {
    const git = this.absolute({ root, path: repository });
    return (worktree === undefined ? git : join(git, "worktrees", worktree)) === this.repository?.writable.at(-1);
  }

  isTracked(absolute: string): boolean {
    return this.recorded(absolute) !== undefined;
  }

  /** Entry of git's index before the command. */
  recorded(absolute: string): IndexEntry | undefined {
    return this.repository === undefined ? undefined : this.#index.get(relative(this.top, absolute));
  }

  /** Whether git's index records the commit for a submodule, before or after the command. */
  isRecordedCommit(object: string): boolean {
    const changed = this.git.flatMap((effect) =>
      effect.type === "index" && this.isOwn(effect) ? effect.changes.flatMap(({ to }) => to ?? []) : [],
    );
    return [...this.#index.values(), ...changed].some((entry) => entry.mode === "160000" && entry.object === object);
  }

  /** Files in git's data that a person judges by their text: settings, where history ends, and where a repository's directory is. */
  get gitSettings(): readonly StageEffect[] {
    const said = /(?:^|\/)(?:config|config\.worktree|info\/exclude|shallow)$/;
    return this.effects.filter((effect) => {
      const inGit = this.#inGit[effect.root]?.(effect.path);
      const isFile = (effect.after ?? effect.before)?.type === "file";
      return inGit !== undefined && isFile && (inGit === "" || said.test(inGit));
    });
  }

  /** Whether files that tools obey lead to the path, so that tools obey it too. Throws if there are too many leads to check. */
  isControlTarget(absolute: string): boolean {
    this.#targets ??= controlTargets(
      {
        links: new Map(this.#leads.links.flatMap((path) => this.#controlLink(path))),
        configurations: [...userConfigurations(this.#home), ...this.#leads.configurations],
      },
      {
        roots: this.#transaction.roots.map(({ path }) => path),
        workTrees: [...new Set([this.workspaceRoot, this.top])],
        home: this.#home,
      },
    );
    return targetControl(this.#targets, absolute) !== undefined;
  }

  #controlLink(path: string): readonly (readonly [string, ControlPath])[] {
    const control = controlPath(relative(this.top, path));
    return control === undefined ? [] : [[path, control]];
  }

  /** Bytes that the command left; undefined for what is neither file nor link. */
  staged({ root, path, after }: StageEffect): Buffer | undefined {
    if (after?.type === "link") return Buffer.from(after.target);
    const place = this.#transaction.roots[root];
    if (after?.type !== "file" || place === undefined) return undefined;
    return readFileSync(join(place.directory, stageParts.upper, path));
  }

  /** Bytes of the present file, or target of the link; undefined if there is neither. */
  before(effect: Pick<StageEffect, "root" | "path">): Buffer | undefined {
    return this.now(this.absolute(effect));
  }

  /** The same of an absolute path. */
  now(absolute: string): Buffer | undefined {
    return contentAt(absolute);
  }

  /** Bytes of the file, or target of the link, that the tree shows after the command; undefined if there is neither. */
  shown(absolute: string): Buffer | undefined {
    const effect = this.#byPath.get(absolute);
    return effect === undefined ? contentAt(absolute) : this.staged(effect);
  }

  /** Whether the tree shows a link at this very path after the command: behind another link, it would lead elsewhere. */
  isLink(absolute: string): boolean {
    const effect = this.#byPath.get(absolute);
    if (effect !== undefined) return effect.after?.type === "link";
    const isThere = lstatSync(absolute, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isThere && realpathSync(dirname(absolute)) === dirname(absolute);
  }
}

function indexOf(repository: RepositoryPaths | undefined): GitIndex {
  const file = repository === undefined ? undefined : contentAt(join(repository.writable.at(-1) ?? "", "index"));
  return (file === undefined ? undefined : readGitIndex(file)) ?? new Map();
}

function contentAt(path: string): Buffer | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() === true) return Buffer.from(readlinkSync(path));
  return stat?.isFile() === true ? readFileSync(path) : undefined;
}
