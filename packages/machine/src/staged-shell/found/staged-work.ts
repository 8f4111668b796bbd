import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import type { WorkspacePath } from "@gennai/governance/effect";
import { type AgreedControl, agreedControl, nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { type ControlPath, controlPath } from "@gennai/governance/policies/files/control-paths";
import {
  type ControlTargets,
  controlTargets,
  targetControl,
  userConfigurations,
} from "../../control-watch/state/control-targets.ts";
import { type GitIndex, readGitIndex } from "../../git-data/git-index.ts";
import { type PathInGit, pathsInGit } from "../../git-data/git-path.ts";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import { type RepositoryPaths, repositoryPaths } from "../../sandbox/host/repository-paths.ts";
import type { ControlLeads } from "../../stage/cover/covered-tree.ts";
import { statIfPresent } from "../../stage/files/look-at-entry.ts";
import type { StageEffect } from "../../stage/observe/effect.ts";
import type { GitEffect } from "../../stage/observe/git-effects.ts";
import { stageParts } from "../../stage/transaction/staged-root.ts";
import type { Transaction } from "../../stage/transaction/transaction.ts";

/** What a staged command left, and what is known of it. */
export interface StagedWorkOptions {
  readonly transaction: Transaction;
  /** What may be kept. */
  readonly effects: readonly StageEffect[];
  readonly git: readonly GitEffect[];
  /** Real path. */
  readonly workspaceRoot: string;
  /** The user's. */
  readonly home: string;
  /** What leads to files that are obeyed like those that name them. */
  readonly leads: ControlLeads;
  readonly command: CommandAnalysis;
  /** A person said yes to the command itself. */
  readonly confirmed: boolean;
  /** Ids of what commands of the session stashed. */
  readonly ownStashes?: ReadonlySet<string> | undefined;
}

/** What a staged command left, beside what is there. Nothing of it is kept yet. */
export class StagedWork {
  readonly effects: readonly StageEffect[];
  readonly git: readonly GitEffect[];
  readonly workspaceRoot: string;
  readonly repository: RepositoryPaths | undefined;
  /** What the person agreed to who let the command run; undefined if nobody was asked. */
  readonly agreed: AgreedControl;
  readonly #transaction: Transaction;
  /** Of each root. */
  readonly #inGit: readonly PathInGit[];
  /** What git tracked before. */
  readonly #index: GitIndex;
  readonly #byPath: ReadonlyMap<string, StageEffect>;
  readonly #home: string;
  readonly #leads: ControlLeads;
  readonly #ownStashes: ReadonlySet<string>;
  readonly #command: CommandAnalysis;
  #targets: ControlTargets | undefined;

  constructor({
    transaction,
    effects,
    git,
    workspaceRoot,
    home,
    leads,
    command,
    confirmed,
    ownStashes = new Set(),
  }: StagedWorkOptions) {
    this.#ownStashes = ownStashes;
    this.#command = command;
    this.#home = home;
    this.#leads = leads;
    this.#transaction = transaction;
    this.#inGit = transaction.roots.map(({ path }) => pathsInGit(path));
    this.effects = effects;
    this.git = git;
    this.workspaceRoot = workspaceRoot;
    this.repository = repositoryPaths(workspaceRoot, home);
    this.agreed = confirmed ? agreedControl(command) : nothingAgreed;
    // Not needed if nothing changed.
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
      const git = this.repository?.writable.find((each) => isWithin(each, path));
      return git === undefined ? [] : [join(directory, stageParts.upper, relative(path, git), "objects")];
    });
    return places.filter((path) => statIfPresent(path)?.isDirectory() === true);
  }

  absolute({ root, path }: Pick<StageEffect, "root" | "path">): string {
    return join(this.#transaction.roots[root]?.path ?? "/", path);
  }

  /** Where it lies until it is kept. */
  placeOf({ root, path }: Pick<StageEffect, "root" | "path">): string {
    return join(this.#transaction.roots[root]?.directory ?? "/", stageParts.upper, path);
  }

  workspacePath(absolute: string): WorkspacePath {
    const inside = isWithin(absolute, this.workspaceRoot);
    const name = inside ? relative(this.workspaceRoot, absolute) : "";
    return { raw: inside ? name : absolute, relative: name, absolute, inside };
  }

  isInGit({ root, path }: StageEffect): boolean {
    return this.#inGit[root]?.(path) !== undefined;
  }

  /** Git's directory that a path lies in, absolute, where it is another one than the workspace's own. */
  repositoryOf(effect: StageEffect): string | undefined {
    const path = this.absolute(effect);
    if (this.repository?.writable.some((directory) => isWithin(path, directory)) === true) return undefined;
    const [, git] = /^(.*\/\.git)(?:\/|$)/.exec(path) ?? [];
    return git === undefined || this.isModuleLink(git) ? undefined : git;
  }

  /**
   * Whether it says that a submodule, which git's index has at its place, is one of the workspace's own repository.
   * @param git absolute path of a `.git`
   */
  isModuleLink(git: string): boolean {
    const place = dirname(git);
    const [, target] = /^gitdir: ([^\0\n]+)\n$/.exec(this.shown(git)?.toString("utf8") ?? "") ?? [];
    if (target === undefined || this.#index.get(relative(this.top, place))?.mode !== "160000") return false;
    const module = resolve(place, target);
    const isOwn = this.repository?.writable.some((directory) => isWithin(module, join(directory, "modules"))) === true;
    return isOwn && this.shown(join(module, "HEAD")) !== undefined;
  }

  /**
   * Whether a log lost only what the session itself had stashed, and no more than the command says to put back (`git stash pop`). The
   * log of stashes is the way back to the user's, and to what the agent throws away.
   */
  popsOwnStash({ name, entries }: GitEffect & { readonly type: "reflog" }): boolean {
    if (name !== "refs/stash" || entries === undefined) return false;
    const pops = this.#command.commands.filter(
      (command) => command.name === "git" && command.words[0] === "stash" && command.words[1] === "pop",
    );
    return entries.removed.length <= pops.length && entries.removed.every((id) => this.#ownStashes.has(id));
  }

  /** Whether it is the workspace's own repository, or a part of it. */
  isOwn({ root, repository }: GitEffect): boolean {
    const git = this.absolute({ root, path: repository });
    return this.repository?.writable.some((directory) => isWithin(git, directory)) === true;
  }

  /** Whether git's data of this work tree is that of the workspace's own, and not of another one of the repository, or of a submodule. */
  isOfOwnTree({ root, repository }: Pick<GitEffect, "root" | "repository">, worktree: string | undefined): boolean {
    const git = this.absolute({ root, path: repository });
    return (worktree === undefined ? git : join(git, "worktrees", worktree)) === this.repository?.writable.at(-1);
  }

  isTracked(absolute: string): boolean {
    return this.repository !== undefined && this.#index.has(relative(this.top, absolute));
  }

  /** Whether git's index has it for a submodule, before or after the command. */
  isRecordedCommit(object: string): boolean {
    const changed = this.git.flatMap((effect) =>
      effect.type === "index" && this.isOwn(effect) ? effect.changes.flatMap(({ to }) => to ?? []) : [],
    );
    return [...this.#index.values(), ...changed].some((entry) => entry.mode === "160000" && entry.object === object);
  }

  /** Files in git's data that a person judges by what they say: settings, and which directory is a repository's. */
  get gitSettings(): readonly StageEffect[] {
    const said = /(?:^|\/)(?:config|config\.worktree|info\/exclude)$/;
    return this.effects.filter((effect) => {
      const inGit = this.#inGit[effect.root]?.(effect.path);
      const isFile = (effect.after ?? effect.before)?.type === "file";
      return inGit !== undefined && isFile && (inGit === "" || said.test(inGit));
    });
  }

  /** Whether files that tools obey lead there: what it says is obeyed like they are. Throws where there are too many to be told. */
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

  /** What the command left there; undefined for what is not a file, and no link. */
  staged({ root, path, after }: StageEffect): Buffer | undefined {
    if (after?.type === "link") return Buffer.from(after.target);
    const place = this.#transaction.roots[root];
    if (after?.type !== "file" || place === undefined) return undefined;
    return readFileSync(join(place.directory, stageParts.upper, path));
  }

  /** The present content of a file or a link; undefined if there is none. */
  before(effect: StageEffect): Buffer | undefined {
    return contentAt(this.absolute(effect));
  }

  /** Content in the tree after the command, of a file or a link; undefined if there is none. */
  shown(absolute: string): Buffer | undefined {
    const effect = this.#byPath.get(absolute);
    return effect === undefined ? contentAt(absolute) : this.staged(effect);
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
