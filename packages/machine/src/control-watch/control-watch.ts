import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandPath } from "@gennai/governance/command/command-analysis";
import type { AgreedControl } from "@gennai/governance/policies/agreed-control";
import type { PutBackFile, ToolOutcome } from "@gennai/governance/tool";
import { isRunning, thisOwner } from "../process/journal-owner.ts";
import { isWithin } from "../sandbox/host-layout.ts";
import { repositoryPaths } from "../sandbox/repository-paths.ts";
import { hasCode } from "../system-error.ts";
import { Aside } from "./aside.ts";
import { type ControlPlace, ControlTree, largeFileIdentity } from "./control-state.ts";
import { type ControlTargets, controlTargets, follow } from "./control-targets.ts";
import { IndexWatch } from "./index-watch.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { putBack } from "./put-back.ts";
import { asideOf, failedAsideOf, sweepAllAside, sweepAside } from "./put-back-copies.ts";
import { RefsWatch } from "./refs-watch.ts";
import { readWatchJournal, type WatchJournal, writeWatchJournal } from "./watch-journal.ts";

export interface WatchedCommand {
  /** Real path. */
  readonly workspaceRoot: string;
  /** What whoever let it run agreed to. */
  readonly agreed: AgreedControl;
  /** Paths that it cannot change: a sandbox mounts them read-only. */
  readonly untouchable: readonly string[];
  /** Milliseconds after which it is ended. */
  readonly timeoutMs: number;
  /** Globs of further branches that only git may move, as it was told to. */
  readonly protectedBranches?: readonly string[] | undefined;
}

type PutBackFiles = NonNullable<ToolOutcome["putBack"]>;

type Recovered = PutBackFiles & { readonly workspaceRoot: string };

/** A command between its start and its end. */
export interface ControlRun {
  /** Call when all its processes are gone. A second call does nothing. */
  end(): PutBackFiles;
}

/** What a command may take to end after its time is up. */
const graceMs = 10_000;

/**
 * Looks at the files that tools obey before and after each command, and puts back what nobody agreed to. It stands in until
 * commands are staged: then what they change is looked at before it is true.
 */
export class ControlWatch implements Disposable {
  readonly #stateDir: string;
  readonly #home: string;
  readonly #own: string;
  readonly #bytes: KeptBytes;
  readonly #index: IndexWatch;
  readonly #refs: RefsWatch;
  readonly #trees = new Map<string, ControlTree>();
  #runs = 0;

  private constructor(stateDir: string, home: string, own: string) {
    this.#stateDir = stateDir;
    this.#home = home;
    this.#own = own;
    this.#bytes = new KeptBytes(join(own, "bytes"));
    this.#index = new IndexWatch(this.#bytes);
    this.#refs = new RefsWatch(this.#bytes);
  }

  /** Also puts back what commands left of processes that were killed. */
  static open(options: { readonly stateDir: string; readonly home: string }): {
    readonly watch: ControlWatch;
    /** By workspace. */
    readonly recovered: readonly Recovered[];
  } {
    const { stateDir, home } = options;
    const parent = join(stateDir, "control-watch");
    const recovered = (existsSync(parent) ? readdirSync(parent) : []).flatMap((name) => {
      const owner = /^(\d+-\d+-[0-9a-f]+)\.\d+$/.exec(name)?.[1];
      if (owner === undefined || isRunning(owner)) return [];
      // One server takes it over, however many start at once; should that one be killed, the next does.
      const own = nextOwn(parent);
      try {
        renameSync(join(parent, name), own);
        return new ControlWatch(stateDir, home, own).#recover();
      } catch (error) {
        return hasCode(error, "ENOENT") ? [] : [notRecovered(join(parent, name), error)];
      }
    });
    sweepAllAside(stateDir);
    return { watch: new ControlWatch(stateDir, home, nextOwn(parent)), recovered };
  }

  /** Throws when the workspace cannot be looked through; the command must not run then. */
  begin(command: WatchedCommand): ControlRun {
    const { workspaceRoot, agreed, untouchable, timeoutMs, protectedBranches } = command;
    const repository = repositoryPaths(workspaceRoot, this.#home);
    const elsewhere = (repository?.writable ?? []).filter((path) => !isWithin(path, workspaceRoot));
    const places: readonly ControlPlace[] = [
      { root: workspaceRoot, isGit: false },
      ...elsewhere.map((root) => ({ root, isGit: true })),
    ];
    const seen = places.map((place) => ({ place, ...this.#look(place, untouchable) }));
    const targets = controlTargets(
      {
        links: new Map(seen.flatMap(({ links }) => [...links])),
        configurations: [...userConfigurations(this.#home), ...seen.flatMap(({ configurations }) => configurations)],
      },
      {
        roots: places.map(({ root }) => root),
        workTrees: [...new Set([workspaceRoot, repository?.workTree ?? workspaceRoot])],
        home: this.#home,
      },
    );
    const before = seen.map(
      ({ place, states }) => new Map([...this.#tree(place).lookAt(targets, untouchable), ...states]),
    );
    for (const [path, { type }] of before.flatMap((states) => [...states]))
      if (type === "other") this.#bytes.keepCopy(path, () => largeFileIdentity(path));
    const journal: WatchJournal = {
      version: 3,
      workspaceRoot,
      agreed: { ...agreed, named: agreed.named.flatMap(throughLinks) },
      untouchable: [...untouchable],
      deadline: Date.now() + timeoutMs + graceMs,
      places: seen.map(({ place, unreadable }, index) => ({
        place,
        ...identified(place.root),
        before: [...(before[index] ?? [])],
        unreadable: [...unreadable],
      })),
      targets: [...targets],
      refs: repository === undefined ? undefined : this.#refs.see(repository, protectedBranches ?? []),
      index: repository === undefined ? undefined : this.#index.see(repository),
    };
    this.#runs += 1;
    const file = join(this.#own, `${this.#runs}.json`);
    mkdirSync(this.#own, { recursive: true, mode: 0o700 });
    writeWatchJournal(file, journal);
    let ended = false;
    return {
      end: () => {
        if (ended) return { files: [], keptIn: "" };
        ended = true;
        const done = this.#end(journal);
        // What could not be put back is tried once more at the next start.
        if (done.files.every(({ what }) => what !== "failed")) rmSync(file, { force: true });
        return done;
      },
    };
  }

  /** What could not be put back, and commands that have not ended, are left to the next start. */
  [Symbol.dispose](): void {
    if (this.#journals().length === 0) rmSync(this.#own, { recursive: true, force: true });
  }

  #end(journal: WatchJournal): PutBackFiles {
    const { workspaceRoot, agreed, untouchable, deadline, places, refs, index } = journal;
    const targets: ControlTargets = new Map(journal.targets);
    const aside = new Aside(asideOf(this.#stateDir, workspaceRoot, this.#runs));
    const known = index === undefined ? untracked : this.#index.around(index, targets);
    const inPlace = places.filter(({ place, device, inode }) => {
      const now = identityOf(place.root);
      return now?.device === device && now.inode === inode;
    });
    const replaced = places.filter((each) => !inPlace.includes(each)).map(({ place }) => place.root);
    const isHere = (path: string): boolean => !replaced.some((root) => isWithin(path, root));
    const done = inPlace.flatMap(({ place, device, inode, before, unreadable }) =>
      putBack({
        root: place.root,
        held: { path: place.root, device, inode },
        tree: this.#tree(place),
        unreadable,
        untouchable,
        targets,
        agreed,
        aside,
        deadline,
        before: new Map(before),
        bytes: this.#bytes,
        index: known,
      }),
    );
    const inRefs =
      refs !== undefined && isHere(refs.directory) && isHere(refs.common)
        ? this.#refs.putBack(refs, { agreed, aside, deadline, untouchable })
        : [];
    const inIndex =
      index !== undefined && isHere(index.path) ? this.#index.putBack(index, { agreed, aside, targets }) : [];
    const files = [...replaced.map(leftAlone), ...done, ...inRefs, ...inIndex];
    if (files.length > 0) sweepAside(this.#stateDir, workspaceRoot);
    return { files, keptIn: aside.directory };
  }

  #look(place: ControlPlace, untouchable: readonly string[]): ReturnType<ControlTree["look"]> {
    const seen = this.#tree(place).look(untouchable);
    const [first] = seen.unlisted;
    if (first !== undefined) throw new Error(`${first} cannot be looked into. Give it a shorter name, in UTF-8.`);
    return seen;
  }

  #tree(place: ControlPlace): ControlTree {
    const key = JSON.stringify(place);
    const tree = this.#trees.get(key) ?? new ControlTree(place, this.#bytes);
    this.#trees.set(key, tree);
    return tree;
  }

  #journals(): readonly string[] {
    if (!existsSync(this.#own)) return [];
    return readdirSync(this.#own).filter((name) => name.endsWith(".json"));
  }

  /** What cannot be put back is kept aside with all that is known of it, and not tried again. */
  #recover(): readonly Recovered[] {
    const done = this.#journals().flatMap((name): readonly Recovered[] => {
      const file = join(this.#own, name);
      let workspaceRoot: string | undefined;
      try {
        const journal = readWatchJournal(file);
        workspaceRoot = journal.workspaceRoot;
        const ended = this.#end(journal);
        return ended.files.length === 0 ? [] : [{ workspaceRoot, ...ended }];
      } catch (error) {
        return [notRecovered(file, error, workspaceRoot)];
      }
    });
    if (done.every(({ files }) => files.every(({ what }) => what !== "failed"))) {
      rmSync(this.#own, { recursive: true, force: true });
      return done;
    }
    const failed = failedAsideOf(this.#stateDir, basename(this.#own));
    mkdirSync(dirname(failed), { recursive: true, mode: 0o700 });
    renameSync(this.#own, failed);
    return done.map((each) => (each.keptIn.startsWith(this.#own) ? { ...each, keptIn: failed } : each));
  }
}

let count = 0;

function nextOwn(parent: string): string {
  count += 1;
  return join(parent, `${thisOwner()}.${count}`);
}

function notRecovered(keptIn: string, error: unknown, workspaceRoot = "a workspace that is not known"): Recovered {
  const reason = error instanceof Error ? error.message : String(error);
  return { workspaceRoot, files: [{ path: workspaceRoot, what: "failed", reason }], keptIn };
}

/** Of a directory; undefined where none stands, or a link to one. */
function identityOf(path: string): { readonly device: number; readonly inode: number } | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? { device: stat.dev, inode: stat.ino } : undefined;
}

function identified(path: string): NonNullable<ReturnType<typeof identityOf>> {
  const identity = identityOf(path);
  if (identity === undefined) throw new Error(`${path} is no directory.`);
  return identity;
}

function leftAlone(path: string): PutBackFile {
  const reason = "another directory stands there now, or none, and was left alone";
  return { path, what: "failed", reason };
}

/** What names a link names what it leads to. */
function throughLinks(path: CommandPath): CommandPath[] {
  const { end } = path.pattern === true ? {} : follow(path.absolute);
  return end === undefined || end === path.absolute ? [path] : [path, { ...path, absolute: end }];
}

/** The user's and the system's: what they say of hooks and attributes may lie in the workspace. */
function userConfigurations(home: string): readonly string[] {
  const configHome = process.env["XDG_CONFIG_HOME"] || join(home, ".config");
  return ["/etc/gitconfig", join(home, ".gitconfig"), join(configHome, "git", "config")];
}

const untracked = { isTracked: () => false, isAsInIndex: () => false };
