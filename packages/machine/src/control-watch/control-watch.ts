import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import type { PutBackFile } from "@gennai/governance/tool";
import { errorMessage } from "@gennai/protocol/error-message";
import { isRunning, thisOwner } from "../process/locks/journal-owner.ts";
import { ProcessLocks } from "../process/locks/process-lock.ts";
import { isWithin } from "../sandbox/host/host-layout.ts";
import { repositoryPaths } from "../sandbox/host/repository-paths.ts";
import { hasCode } from "../system-error.ts";
import { IndexWatch } from "./index-watch.ts";
import { Aside } from "./put-back/aside.ts";
import { type PutBackFiles, putBack, type RecoveredCommand } from "./put-back/put-back.ts";
import { asideOf, failedAsideOf, sweepAllAside, sweepAside } from "./put-back/put-back-copies.ts";
import { RefsWatch } from "./refs-watch.ts";
import { repositoryTurn } from "./repository-turn.ts";
import { type ControlDirectory, ControlTree, largeFileIdentity } from "./state/control-state.ts";
import { type ControlTargets, controlTargets, throughLinks, userConfigurations } from "./state/control-targets.ts";
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from "./state/directory-identity.ts";
import { KeptBytes } from "./state/kept-bytes.ts";
import { journalStates, readWatchJournal, type WatchJournal, writeWatchJournal } from "./state/watch-journal.ts";

export interface WatchedCommand {
  /** Real path. */
  readonly workspaceRoot: string;
  /** What the person who let it run agreed to. */
  readonly agreed: AgreedControl;
  /** Paths that the command cannot change, because a sandbox mounts them read-only. */
  readonly untouchable: readonly string[];
  /** Milliseconds after which the command is ended. */
  readonly timeoutMs: number;
  /** Globs of further branches that only git may move, and only as the command says. */
  readonly protectedBranches?: readonly string[] | undefined;
}

/** A command between its start and its end. */
export interface ControlRun {
  /** Call when all its processes are gone. A second call does nothing. */
  end(): PutBackFiles;
}

/** Milliseconds that a command may take to end after its time is up. */
const graceMs = 10_000;

/**
 * Examines the files that tools obey before and after each command, and restores those changed without agreement. For commands
 * that are not staged; changes by staged ones are judged before they are kept.
 */
export class ControlWatch implements Disposable {
  readonly #stateDir: string;
  readonly #home: string;
  readonly #own: string;
  readonly #bytes: KeptBytes;
  readonly #index: IndexWatch;
  readonly #refs: RefsWatch;
  readonly #trees = new Map<string, ControlTree>();
  /** Journals of commands that have not ended or could not be put back, by file. */
  readonly #open = new Map<string, WatchJournal>();
  #runs = 0;

  private constructor(stateDir: string, home: string, own: string) {
    this.#stateDir = stateDir;
    this.#home = home;
    this.#own = own;
    this.#bytes = new KeptBytes(join(own, "bytes"));
    this.#index = new IndexWatch(this.#bytes);
    this.#refs = new RefsWatch(this.#bytes);
  }

  /** Opens the watch, and puts back what commands of killed processes left. */
  static open(options: { readonly stateDir: string; readonly home: string }): {
    readonly watch: ControlWatch;
    /** The commands put back, each with its workspace. */
    readonly recovered: readonly RecoveredCommand[];
  } {
    const { stateDir, home } = options;
    const parent = join(stateDir, "control-watch");
    const recovered = (existsSync(parent) ? readdirSync(parent) : []).flatMap((name) => {
      const owner = /^(\d+-\d+-[0-9a-f]+)\.\d+$/.exec(name)?.[1];
      if (owner === undefined || isRunning(owner)) return [];
      // Of several servers that start, one takes over the journals; if it is killed, the next one does.
      const own = nextOwn(parent);
      try {
        renameSync(join(parent, name), own);
        return new ControlWatch(stateDir, home, own).#recover();
      } catch (error) {
        return hasCode(error, "ENOENT") ? [] : [notRecovered(error, { knownIn: join(parent, name) })];
      }
    });
    sweepAllAside(stateDir);
    return { watch: new ControlWatch(stateDir, home, nextOwn(parent)), recovered };
  }

  /**
   * Waits for other commands over the same repository, as `repositoryTurn` says. Call it before a command without a sandbox; a
   * sandboxed command can hardly change what working trees share.
   */
  turn(workspaceRoot: string, { signal }: { readonly signal: AbortSignal }): Promise<Disposable> {
    const common = repositoryPaths(workspaceRoot, this.#home)?.writable[0];
    return repositoryTurn(new ProcessLocks(join(this.#stateDir, "locks")), common ?? workspaceRoot, { signal });
  }

  /** Throws if the workspace cannot be examined; the command must not run then. */
  begin(command: WatchedCommand): ControlRun {
    const { workspaceRoot, agreed, untouchable, timeoutMs, protectedBranches } = command;
    const repository = repositoryPaths(workspaceRoot, this.#home);
    const elsewhere = (repository?.writable ?? []).filter((path) => !isWithin(path, workspaceRoot));
    const places: readonly ControlDirectory[] = [
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
        identity: identified(place.root),
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
    this.#open.set(file, journal);
    let ended = false;
    return {
      end: () => {
        if (ended) return { files: [], keptIn: "" };
        ended = true;
        const done = this.#end(journal);
        // What could not be put back stays in the journal, and the next start tries again.
        if (done.files.every(({ what }) => what !== "failed")) {
          rmSync(file, { force: true });
          this.#open.delete(file);
        }
        this.#forget();
        return done;
      },
    };
  }

  /** Leaves to the next start what could not be put back, and commands that have not ended. */
  [Symbol.dispose](): void {
    if (this.#journals().length === 0) rmSync(this.#own, { recursive: true, force: true });
  }

  #end(journal: WatchJournal): PutBackFiles {
    const { workspaceRoot, agreed, untouchable, deadline, places, refs, index } = journal;
    const targets: ControlTargets = new Map(journal.targets);
    const aside = new Aside(asideOf(this.#stateDir, workspaceRoot, this.#runs));
    const known = index === undefined ? untracked : this.#index.around(index, targets);
    const inPlace = places.flatMap(({ identity, ...seen }) => {
      const now = directoryIdentity(seen.place.root);
      return now !== undefined && isSameDirectory(identity, now) ? [{ ...seen, now }] : [];
    });
    const replaced = places.flatMap(({ place: { root } }) =>
      inPlace.some(({ place }) => place.root === root) ? [] : [root],
    );
    const isHere = (path: string): boolean => !replaced.some((root) => isWithin(path, root));
    const done = inPlace.flatMap(({ place, now: { device, inode }, before, unreadable }) =>
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
    return { files, keptIn: existsSync(aside.directory) ? aside.directory : "" };
  }

  /** Forgets kept bytes that no open command and no next look needs. */
  #forget(): void {
    for (const [key, tree] of this.#trees) if (!existsSync(tree.root)) this.#trees.delete(key);
    this.#bytes.keepOnly([
      ...[...this.#open.values()].flatMap(journalStates),
      ...[...this.#trees.values()].flatMap((tree) => tree.remembered()),
      ...this.#index.remembered(),
      ...this.#refs.remembered(),
    ]);
  }

  #look(place: ControlDirectory, untouchable: readonly string[]): ReturnType<ControlTree["look"]> {
    const seen = this.#tree(place).look(untouchable);
    const [first] = seen.unlisted;
    if (first !== undefined) throw new Error(`${first} cannot be looked into. Give it a shorter name, in UTF-8.`);
    return seen;
  }

  #tree(place: ControlDirectory): ControlTree {
    const key = JSON.stringify(place);
    const tree = this.#trees.get(key) ?? new ControlTree(place, this.#bytes);
    this.#trees.set(key, tree);
    return tree;
  }

  #journals(): readonly string[] {
    if (!existsSync(this.#own)) return [];
    return readdirSync(this.#own).filter((name) => name.endsWith(".json"));
  }

  /** Puts back what dead processes left. What fails is kept aside with its journal, and not tried again. */
  #recover(): readonly RecoveredCommand[] {
    const done = this.#journals().flatMap((name): readonly RecoveredCommand[] => {
      let workspaceRoot: string | undefined;
      try {
        const journal = readWatchJournal(join(this.#own, name));
        workspaceRoot = journal.workspaceRoot;
        const ended = this.#end(journal);
        return ended.files.length === 0 ? [] : [{ workspaceRoot, ...ended }];
      } catch (error) {
        return [notRecovered(error, { workspaceRoot })];
      }
    });
    const isFailed = ({ files }: RecoveredCommand): boolean => files.some(({ what }) => what === "failed");
    if (!done.some(isFailed)) {
      rmSync(this.#own, { recursive: true, force: true });
      return done;
    }
    const knownIn = failedAsideOf(this.#stateDir, basename(this.#own));
    mkdirSync(dirname(knownIn), { recursive: true, mode: 0o700 });
    renameSync(this.#own, knownIn);
    return done.map((each) => (isFailed(each) ? { ...each, knownIn } : each));
  }
}

let count = 0;

function nextOwn(parent: string): string {
  count += 1;
  return join(parent, `${thisOwner()}.${count}`);
}

function notRecovered(
  error: unknown,
  known: { readonly workspaceRoot?: string | undefined; readonly knownIn?: string },
): RecoveredCommand {
  const reason = errorMessage(error);
  const { workspaceRoot = "a workspace that is not known" } = known;
  return { ...known, workspaceRoot, files: [{ path: "its control files", what: "failed", reason }], keptIn: "" };
}

function identified(path: string): DirectoryIdentity {
  const identity = directoryIdentity(path);
  if (identity === undefined) throw new Error(`${path} is not a directory.`);
  return identity;
}

function leftAlone(path: string): PutBackFile {
  const reason = "the directory was replaced or removed meanwhile, and was left alone";
  return { path, what: "failed", reason };
}

const untracked = { isTracked: () => false, isAsInIndex: () => false };
