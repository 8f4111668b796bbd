import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import type { AgreedControl } from "@gennai/governance/policies/agreed-control";
import type { ToolOutcome } from "@gennai/governance/tool";
import { isWithin } from "../sandbox/host-layout.ts";
import { repositoryPaths } from "../sandbox/repository-paths.ts";
import { isRunning, thisOwner } from "../workspace/change/journal-owner.ts";
import { hooksDirectory } from "../workspace/hooks-directory.ts";
import { type ControlPlace, ControlTree } from "./control-state.ts";
import { IndexWatch } from "./index-watch.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { putBack } from "./put-back.ts";
import { readWatchJournal, type WatchJournal } from "./watch-journal.ts";

export interface WatchedCommand {
  /** Real path. */
  readonly workspaceRoot: string;
  /** What whoever let it run agreed to. */
  readonly agreed: AgreedControl;
  /** Paths that it cannot change: a sandbox mounts them read-only. */
  readonly untouchable: readonly string[];
  /** Milliseconds after which it is ended. */
  readonly timeoutMs: number;
}

type PutBackFiles = NonNullable<ToolOutcome["putBack"]>;

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
  readonly #trees = new Map<string, ControlTree>();
  #runs = 0;

  private constructor(stateDir: string, home: string, own: string) {
    this.#stateDir = stateDir;
    this.#home = home;
    this.#own = own;
    this.#bytes = new KeptBytes(join(own, "bytes"));
    this.#index = new IndexWatch(this.#bytes);
  }

  /** Also puts back what commands left of processes that were killed. */
  static open(options: { readonly stateDir: string; readonly home: string }): {
    readonly watch: ControlWatch;
    /** By workspace. */
    readonly recovered: readonly (PutBackFiles & { readonly workspaceRoot: string })[];
  } {
    const { stateDir, home } = options;
    const parent = join(stateDir, "control-watch");
    const recovered = (existsSync(parent) ? readdirSync(parent) : []).flatMap((name) => {
      const owner = /^(\d+-\d+-[0-9a-f]+)\.\d+$/.exec(name)?.[1];
      if (owner === undefined || isRunning(owner)) return [];
      const watch = new ControlWatch(stateDir, home, join(parent, name));
      const found = watch.#recover();
      watch[Symbol.dispose]();
      return found;
    });
    count += 1;
    return { watch: new ControlWatch(stateDir, home, join(parent, `${thisOwner()}.${count}`)), recovered };
  }

  /** Throws when the workspace cannot be looked through; the command must not run then. */
  begin({ workspaceRoot, agreed, untouchable, timeoutMs }: WatchedCommand): ControlRun {
    const repository = repositoryPaths(workspaceRoot, this.#home);
    const hooks = hooksDirectory(workspaceRoot);
    const elsewhere = (repository?.writable ?? []).filter((path) => !isWithin(path, workspaceRoot));
    const places: readonly ControlPlace[] = [
      { root: workspaceRoot, isGit: false, hooks: hooks?.startsWith(`${workspaceRoot}/`) === true ? hooks : undefined },
      ...elsewhere.map((root) => ({ root, isGit: true, hooks: undefined })),
    ];
    const journal: WatchJournal = {
      version: 1,
      workspaceRoot,
      agreed: { ...agreed, named: [...agreed.named] },
      untouchable: [...untouchable],
      deadline: Date.now() + timeoutMs + graceMs,
      places: places.map((place) => this.#placeBefore(place, untouchable)),
      index: repository === undefined ? undefined : this.#index.see(repository),
    };
    this.#runs += 1;
    const file = join(this.#own, `${this.#runs}.json`);
    mkdirSync(this.#own, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(journal), { mode: 0o600 });
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

  [Symbol.dispose](): void {
    rmSync(this.#own, { recursive: true, force: true });
  }

  #end({ workspaceRoot, agreed, untouchable, deadline, places, index }: WatchJournal): PutBackFiles {
    const aside = join(
      this.#stateDir,
      "put-back",
      workspaceIdOf(workspaceRoot).slice(0, 16),
      `${Date.now()}-${this.#runs}`,
    );
    const known = index === undefined ? untracked : this.#index.around(index);
    const done = places.flatMap(({ place, before, unreadable }) =>
      putBack({
        root: place.root,
        tree: this.#tree(place),
        unreadable,
        untouchable,
        agreed,
        aside,
        deadline,
        before: new Map(before),
        bytes: this.#bytes,
        index: known,
      }),
    );
    return {
      files: [...done, ...(index === undefined ? [] : this.#index.putBack(index, agreed, aside))],
      keptIn: aside,
    };
  }

  #placeBefore(place: ControlPlace, untouchable: readonly string[]): WatchJournal["places"][number] {
    const { states, unlisted, unreadable } = this.#tree(place).look(untouchable);
    const [first] = unlisted;
    if (first !== undefined) throw new Error(`${first} cannot be looked into. Give it a shorter name, in UTF-8.`);
    return { place, before: [...states], unreadable: [...unreadable] };
  }

  #tree(place: ControlPlace): ControlTree {
    const key = JSON.stringify(place);
    const tree = this.#trees.get(key) ?? new ControlTree(place, this.#bytes);
    this.#trees.set(key, tree);
    return tree;
  }

  #recover() {
    return readdirSync(this.#own)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => {
        const journal = readWatchJournal(join(this.#own, name));
        if (journal === undefined) return [];
        const done = this.#end(journal);
        return done.files.length === 0 ? [] : [{ workspaceRoot: journal.workspaceRoot, ...done }];
      });
  }
}

let count = 0;

const untracked = { isTracked: () => false, isAsInIndex: () => false };
