import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { readHostLayout } from "@gennai/machine/host/host-layout";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import type { CommandRun } from "@gennai/machine/process/run-command";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { commit } from "#commit/commit";
import { type CoveredRoot, CoveredRoots } from "#cover/covered-roots";
import type { CoverRules } from "#cover/covered-tree";
import { type CachesOfRun, mountRoots, type StagedBy } from "#mount/mounted-roots";
import type { MountsAhead } from "#mount/mounts-ahead";
import type { Observation, StageEffect } from "#observe/effect";
import { callFilter } from "#sandbox/call-filter";
import type { ShellMachine } from "#sandbox/shell-sandbox";
import { Stage } from "#stage";
import { removeTransaction, type Transaction } from "#transaction/transaction";
import { withTurns } from "./with-turns.ts";

/** Said to a program of scenarios by its environment. */
export const stagedBy: StagedBy =
  (["copy", "itself"] as const).find((one) => one === process.env["GENNAI_STAGED_BY"]) ?? "overlay";

/** As beside a run in the background. */
export const mayBeHeld = process.env["GENNAI_STAGED_BY"] === "overlay again";

export interface Staged {
  readonly run: CommandRun;
  readonly observation: Observation;
  readonly transaction: Transaction;
}

/** A workspace, a home and a state directory, and stages over the workspace. */
export class StageFixture implements AsyncDisposable {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
  readonly machine: ShellMachine;
  readonly environment: Readonly<Record<string, string>>;
  readonly #rules: CoverRules;

  constructor(files: Readonly<Record<string, string>> = {}, options: FixtureOptions = {}) {
    this.base = options.base ?? realpathSync(mkdtempSync(join(tmpdir(), "gennai-stage-")));
    this.root = join(this.base, options.name ?? "workspace");
    this.home = join(this.base, "home");
    this.stateDir = join(this.base, "state");
    const temporary = join(this.base, "tmp");
    const empty = join(this.base, "empty");
    for (const directory of [this.root, this.home, this.stateDir, temporary, empty]) {
      mkdirSync(directory, { recursive: true });
    }
    this.write(files);
    this.environment = {
      ...commandEnvironment(process.env),
      HOME: this.home,
      PATH: "/usr/bin:/bin",
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@example.com",
      GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
      GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
      GIT_CONFIG_NOSYSTEM: "1",
    };
    const bubblewrap = findBubblewrap();
    if (bubblewrap === undefined) throw new Error("These tests need bubblewrap.");
    const layout = readHostLayout({
      home: this.home,
      environment: this.environment,
      privateDirectories: [this.stateDir],
    });
    const fileOf = (content: string | Uint8Array): string => {
      const file = join(this.#files, hash("sha256", content));
      // Another user may have made it: a test goes on as one without rights.
      if (existsSync(file)) return file;
      mkdirSync(this.#files, { recursive: true });
      writeFileSync(file, content);
      return file;
    };
    const filter = callFilter();
    const features = { disableUserNamespaces: true, ...(filter && { filter: fileOf(filter) }) };
    const gitConfiguration = async () => ({ text: "", named: [], hooks: undefined, signs: false });
    const own = { secrets: async () => [], gitConfiguration };
    this.machine = { bubblewrap, features, layout, ...own, temporary, empty, fileOf };
    this.#rules = { ...options, always: layout.hidden };
  }

  /** Runs a command on a stage, looks at what it did and unmounts. */
  async stage(text: string, options: StageOptions = {}): Promise<Staged> {
    const cwd = options.cwd ?? this.root;
    const roots = await this.covered(cwd);
    const { ahead } = options;
    const stage = await (ahead === undefined
      ? this.stageOver(roots)
      : Stage.on(await ahead.take(roots, undefined, options.caches), this.machine));
    try {
      const run = await stage.run(
        { text, cwd, environment: this.environment, timeoutMs: 60_000 },
        { signal: new AbortController().signal, ...(options.onOutput && { onOutput: options.onOutput }) },
      );
      await options.during?.();
      const observation = await withTurns(
        () => stage.observe(undefined, { mayBeHeld }),
        options.onTurn ?? (() => undefined),
      );
      return { run, observation, transaction: stage.transaction };
    } finally {
      await stage.close();
    }
  }

  async stageOver(roots: readonly CoveredRoot[]): Promise<Stage> {
    return Stage.on(await mountRoots(this.stateDir, roots, undefined, [], { stagedBy }), this.machine);
  }

  /** What is staged for a command, and what it must not see of that. */
  covered(cwd = this.root): Promise<readonly CoveredRoot[]> {
    return this.coveredRoots(cwd).look();
  }

  coveredRoots(cwd = this.root): CoveredRoots {
    return new CoveredRoots(cwd, this.home, this.#rules);
  }

  /** What a command does, by path: its kind of change, and its flags. Nothing of it is kept. */
  async effects(text: string): Promise<Readonly<Record<string, string>>> {
    const { observation, transaction } = await this.stage(text);
    await removeTransaction(transaction);
    return Object.fromEntries(
      observation.effects.map(({ path, change, flags }) => [path, [change, ...flags].join(" ")]),
    );
  }

  /** Runs a command and keeps what it did. @returns the commit's name */
  async keep(
    text: string,
    options: StageOptions & { readonly which?: (effect: StageEffect) => boolean } = {},
  ): Promise<string> {
    const { run, observation, transaction } = await this.stage(text, options);
    if (run.exitCode !== 0) throw new Error(run.output);
    await commit(transaction, observation, observation.effects.filter(options.which ?? (() => true)));
    return transaction.id;
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), text);
    }
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  git(...args: readonly string[]): string {
    return this.gitIn(this.root, ...args);
  }

  gitIn(cwd: string, ...args: readonly string[]): string {
    return execFileSync("/usr/bin/git", args, { cwd, env: { ...this.environment }, encoding: "utf8" });
  }

  /** Every entry of the workspace, with its mode and what it holds. */
  tree(): Readonly<Record<string, string>> {
    return treeAt(this.root);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.base);
    await removeTree(this.#files);
  }

  /** Of the machine: what is in `base` belongs to the tests. */
  get #files(): string {
    return `${this.base}-files`;
  }
}

interface StageOptions {
  readonly cwd?: string;
  /** Mounts that may be ready. */
  readonly ahead?: MountsAhead;
  readonly caches?: CachesOfRun;
  /** While the command runs. */
  readonly onOutput?: (text: string) => void;
  /** When the command has ended, before what it did is looked at. */
  readonly during?: () => void | Promise<void>;
  /** While that is looked at, whenever a timer has its turn. */
  readonly onTurn?: () => void;
}

interface FixtureOptions extends Pick<CoverRules, "isZeroAccess"> {
  /** Of the workspace's directory. */
  readonly name?: string;
  /** Directory of one that is there already. */
  readonly base?: string;
}

export function rootAt(path: string): WorkspaceRoot {
  const { dev, ino } = lstatSync(path);
  return { path, device: dev, inode: ino };
}

function treeAt(root: string, below = ""): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    const at = join(root, path);
    const mode = (lstatSync(at).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) tree[path] = `-> ${readlinkSync(at)}`;
    else if (entry.isDirectory()) {
      tree[path] = `${mode} directory`;
      Object.assign(tree, treeAt(root, path));
    } else tree[path] = `${mode} ${readFileSync(at, "utf8")}`;
  }
  return tree;
}

/** Lets a group that is not the main one of this process share a directory: new entries get it. @returns the group */
export function shareWithGroup(directory: string): number {
  const main = process.getgid?.();
  const group = process.getuid?.() === 0 ? 4711 : (process.getgroups?.() ?? []).find((one) => one !== main);
  if (group === undefined) throw new Error("This test needs a user with two groups.");
  chownSync(directory, process.getuid?.() ?? 0, group);
  chmodSync(directory, 0o2775);
  return group;
}
