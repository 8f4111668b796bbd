import { type BigIntStats, constants, type FSWatcher, readdirSync, readlinkSync, watch } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { giveWay } from "@gennai/machine/entries/give-way";
import { modeOf, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { MergedView } from "@gennai/machine/entries/merged-view";
import { hasCode, systemErrorCode } from "@gennai/machine/system-error";
import { holdDirectory } from "@gennai/machine/workspace/files/held-directory";
import { isWithin } from "@gennai/protocol/is-within";
import type { Covered } from "@gennai/stage/cover/covered-tree";
import { type StagedRoot, stageParts } from "@gennai/stage/transaction/staged-root";

export interface LiveEditsOptions {
  readonly root: StagedRoot;
  /** Path at which this process reaches what the run sees of the root. */
  readonly merged: string;
  readonly covered: Covered;
  /** Looks again at what must be hidden. Rejects rather than leave anything out. */
  look(): Promise<Covered>;
  /** It cannot be known any more what must be hidden: the run must end. */
  onLost(error: unknown): void;
}

/**
 * Brings what others change in a tree to a background run, whose overlay would otherwise go on showing what it read once. Each
 * changed file is written again in the run's view, so that programs that watch notice it. What is hidden stays hidden, and what
 * becomes a secret later is removed from the view. Git's data and `node_modules` stay as they were at the start.
 */
export class LiveEdits implements AsyncDisposable {
  readonly #options: LiveEditsOptions;
  readonly #view: MergedView;
  readonly #hidden: Set<string>;
  #copies: Covered["copies"];
  /** By path; `identity` differs if another directory takes the place of the watched one. */
  readonly #watched = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #work = Promise.resolve();
  #closed = false;
  #isPartial = false;

  private constructor(options: LiveEditsOptions) {
    this.#options = options;
    this.#view = new MergedView(options.merged);
    this.#hidden = new Set(options.covered.hidden);
    this.#copies = options.covered.copies;
  }

  /** Resolves when every later change will be seen. */
  static async follow(options: LiveEditsOptions): Promise<LiveEdits> {
    const edits = new LiveEdits(options);
    await edits.#watchBelow("");
    return edits;
  }

  /** True if the system did not let all directories be watched, or if there are too many: changes in some are not seen. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Resolves when nothing is written to the view any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
    await this.#work;
  }

  async #watchBelow(top: string): Promise<void> {
    const queue = [top];
    for (let next = 0; next < queue.length && !this.#closed; next += 1) {
      await giveWay();
      const path = queue[next] ?? "";
      if (!this.#watch(path)) continue;
      for (const entry of this.#entries(path)) {
        const below = join(path, entry.name);
        if (entry.isDirectory() && !this.#isLeftOut(below)) queue.push(below);
      }
    }
  }

  #entries(path: string) {
    try {
      return readdirSync(join(this.#options.root.path, path), { withFileTypes: true });
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      return [];
    }
  }

  /** @returns true if the directory was not watched before */
  #watch(path: string): boolean {
    const place = join(this.#options.root.path, path);
    const stat = statIfPresent(place);
    if (stat?.isDirectory() !== true) return false;
    const identity = identityOf(stat);
    if (this.#watched.get(path)?.identity === identity) return false;
    this.#forget(path);
    if (this.#watched.size >= maxDirectories) {
      this.#isPartial = true;
      return false;
    }
    try {
      const watcher = watch(place, { persistent: false }, (_event, name) => {
        // Without a name, any entry may have changed.
        if (name === null) for (const entry of this.#entries(path)) this.#note(join(path, entry.name));
        else if (name !== "") this.#note(join(path, name));
      });
      watcher.on("error", () => undefined);
      this.#watched.set(path, { watcher, identity });
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      this.#isPartial ||= hasCode(error, "ENOSPC") || hasCode(error, "EMFILE");
    }
    return true;
  }

  #forget(path: string): void {
    for (const [one, { watcher }] of this.#watched) {
      if (!isWithin(one, { directory: path })) continue;
      watcher.close();
      this.#watched.delete(one);
    }
  }

  #note(path: string): void {
    if (this.#closed || this.#isLeftOut(path)) return;
    this.#changed.add(path);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#work = this.#work.then(() => this.#bringAll()).catch((error: unknown) => this.#options.onLost(error));
    }, gatherMs);
  }

  async #bringAll(): Promise<void> {
    if (this.#closed) return;
    const changed = [...this.#changed].toSorted();
    this.#changed.clear();
    /** Directories that were not watched before, with the names in them. */
    const fresh = new Map<string, ReadonlySet<string>>();
    const all: string[] = [];
    for (let path = changed.shift(); path !== undefined; path = changed.shift()) {
      await giveWay();
      if (this.#isLeftOut(path)) continue;
      all.push(path);
      if (!this.#watch(path)) continue;
      const names = this.#entries(path).map(({ name }) => name);
      fresh.set(path, new Set(names));
      for (const name of names) changed.push(join(path, name));
    }
    // Only after they were listed, so that nothing is written that has become a secret.
    await this.#cover();
    for (const path of all) {
      await giveWay();
      if (this.#closed) return;
      await this.#bring(path);
    }
    for (const [path, names] of fresh) ignoreInTheWay(() => this.#removeOthers(path, names));
  }

  async #cover(): Promise<void> {
    const { hidden, copies } = await this.#options.look();
    this.#copies = copies;
    for (const path of hidden) {
      if (this.#hidden.has(path)) continue;
      try {
        this.#view.remove(path);
      } catch (error) {
        // If its directory is gone, or the run has put a link there, its content is not used; otherwise the run would see it.
        if (!(error instanceof ToolFailure || hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR"))) throw error;
      }
      this.#hidden.add(path);
    }
  }

  async #bring(path: string): Promise<void> {
    if (this.#isLeftOut(path)) return;
    const place = join(this.#options.root.path, path);
    const stat = statIfPresent(place);
    if (stat?.isFile()) return this.#bringFile(path).catch(unlessInTheWay);
    ignoreInTheWay(() => {
      if (stat === undefined) {
        this.#forget(path);
        this.#view.takeAway(path);
      } else if (stat.isDirectory()) this.#view.makeDirectory(path, modeOf(stat) & 0o777);
      else if (stat.isSymbolicLink()) this.#view.makeLink(path, readlinkSync(place));
    });
  }

  /** Removes entries of an earlier directory at this path; what the run made itself stays. */
  #removeOthers(path: string, names: ReadonlySet<string>): void {
    const upper = join(this.#options.root.directory, stageParts.upper, path);
    for (const name of this.#view.names(path)) {
      if (!names.has(name) && statIfPresent(join(upper, name)) === undefined) this.#view.remove(join(path, name));
    }
  }

  async #bringFile(path: string): Promise<void> {
    const parts = path.split("/");
    using parent = holdDirectory(this.#options.root, parts.slice(0, -1));
    const file = await open(parent.entry(parts.at(-1) ?? ""), reading);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return;
      const copy = this.#copies.get(path);
      const look = { mode: stat.mode & 0o777, mtime: stat.mtimeMs / 1000 };
      await this.#view.write(path, copy === undefined ? chunksOf(file) : once(copy), look);
    } finally {
      await file.close();
    }
  }

  #isLeftOut(path: string): boolean {
    if (path.split("/").some((name) => name === ".git" || name === "node_modules" || name.includes("\uFFFD")))
      return true;
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (this.#hidden.has(path.slice(0, end))) return true;
    }
    return false;
  }
}

/** Milliseconds over which changes are gathered, since one save makes several. */
const gatherMs = 20;

/** More than most projects have without `node_modules`; each takes a little of the system's memory. */
const maxDirectories = 20_000;

const reading = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/** It is no error if a file is gone again, or if the run has put something in its place, as it may do in its own view. */
function unlessInTheWay(error: unknown): void {
  if (error instanceof ToolFailure || systemErrorCode(error) !== undefined) return;
  throw error;
}

function ignoreInTheWay(work: () => void): void {
  try {
    work();
  } catch (error) {
    unlessInTheWay(error);
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(256 * 1024);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
