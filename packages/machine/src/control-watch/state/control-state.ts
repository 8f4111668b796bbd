import { createHash } from "node:crypto";
import { type BigIntStats, type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { type ControlPath, controlPath } from "@gennai/governance/policies/files/control-paths";
import { entryAt } from "../../entry-at.ts";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import { systemErrorCode } from "../../system-error.ts";
import { type Looked, RememberedTree, settledNs } from "../../workspace/files/remembered-tree.ts";
import { timesAreTrue } from "../../workspace/files/true-times.ts";
import { type ControlLeads, type ControlTargets, targetControl } from "./control-targets.ts";
import { gitControl, pathInGit } from "./git-control.ts";
import type { KeptBytes } from "./kept-bytes.ts";

/** What is at a control path. */
export type ControlState =
  | { readonly type: "file"; readonly mode: number; readonly sha256: string }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "directory" }
  /** What is not compared by its bytes alone. A file that is too large to read at each look has a mode; a pipe has none. */
  | { readonly type: "other"; readonly identity: string; readonly mode?: number | undefined };

/** By absolute path. */
export type ControlStates = ReadonlyMap<string, ControlState>;

/** Larger files are not read; a change of them is still noticed. */
const maxBytes = 16 * 1024 * 1024;
/** Where package managers put other people's code: a manifest there does not steer this project. */
const dependencies = /(?:^|\/)(?:node_modules|\.?venv|site-packages|\.tox|\.nox|vendor\/bundle)\//;
const alsoThere: ReadonlySet<string> = new Set([
  "instructions that agents follow",
  "a program that scripts run by its name",
]);

/** A path's state, and the text that identifies it later; empty if that is uncertain. */
interface Seen {
  readonly identity: string;
  readonly state: ControlState;
}

/** Result of a look; paths are absolute. */
interface SeenControl extends ControlLeads {
  readonly states: ControlStates;
  readonly unlisted: readonly string[];
  readonly unreadable: readonly string[];
}

/** A directory with control files in it. */
export interface ControlDirectory {
  /** Absolute real path. */
  readonly root: string;
  /** True for git's own directory of a work tree that lies elsewhere. */
  readonly isGit: boolean;
}

/** Finds the control files below a directory, and keeps their bytes. Remembers what did not change. */
export class ControlTree {
  /** Absolute. */
  readonly root: string;
  readonly #isGit: boolean;
  readonly #bytes: KeptBytes;
  readonly #tree: RememberedTree<readonly string[]>;
  #known = new Map<string, Seen>();
  #knownTargets = new Map<string, Seen>();

  constructor({ root, isGit }: ControlDirectory, bytes: KeptBytes) {
    this.root = root;
    this.#isGit = isGit;
    this.#bytes = bytes;
    this.#tree = new RememberedTree(root, (directory, entries) => this.#look(directory, entries));
  }

  /**
   * Returns the control files, and the directories that could not be read because of their names or modes.
   * @param untouchable paths that the command cannot change, because they are mounted read-only
   */
  look(untouchable: readonly string[]): SeenControl {
    const { found, unlisted, unreadable } = this.#tree.walk();
    const known = new Map<string, Seen>();
    const states = new Map<string, ControlState>();
    const links = new Map<string, ControlPath>();
    const configurations: string[] = [];
    for (const [directory, names] of found) {
      for (const name of names) {
        const path = join(directory, name);
        const seen = this.#seen(path);
        if (seen === undefined) continue;
        if (seen.identity !== "") known.set(path, seen);
        const control = seen.state.type === "link" ? this.controlOf(path) : undefined;
        if (control !== undefined) links.set(path, control);
        if (/^config(?:\.worktree)?$/i.test(name) && this.inGit(path) !== undefined) configurations.push(path);
        if (!untouchable.some((mount) => isWithin(path, mount))) states.set(path, seen.state);
      }
    }
    this.#known = known;
    return { states, unlisted, unreadable, links, configurations };
  }

  /** The states of the targets below this root, and of the files in those that are directories. */
  lookAt(targets: ControlTargets, untouchable: readonly string[]): ControlStates {
    const states = new Map<string, ControlState>();
    const known = new Map<string, Seen>();
    const queue = [...targets.keys()].filter((path) => isWithin(path, this.root));
    for (const path of queue) {
      const seen = untouchable.some((mount) => isWithin(path, mount)) ? undefined : this.#seen(path);
      if (seen === undefined || states.has(path)) continue;
      states.set(path, seen.state);
      if (seen.identity !== "") known.set(path, seen);
      if (seen.state.type === "directory") for (const name of namesIn(path)) queue.push(join(path, name));
    }
    this.#knownTargets = known;
    return states;
  }

  /** The states that the next look relies on; their bytes must be kept. */
  remembered(): readonly ControlState[] {
    return [...this.#known.values(), ...this.#knownTargets.values()].map(({ state }) => state);
  }

  /** What a path controls; undefined if it steers nothing here. */
  controlOf(path: string, targets: ControlTargets = new Map()): ControlPath | undefined {
    if (this.inGit(path) !== undefined) return { level: "protected", what: "git's own data" };
    const name = relative(this.root, path);
    // The server itself writes there while commands run.
    if (name.startsWith(`${ledgerDirectory}/`) && basename(name) !== "active_intents.yaml") return undefined;
    const control = controlPath(name);
    const isOthers = control?.level === "sensitive" && dependencies.test(name) && !alsoThere.has(control.what);
    return (isOthers ? undefined : control) ?? targetControl(targets, path);
  }

  /** The path within git's directory, as `pathInGit` gives it. */
  inGit(path: string): string | undefined {
    const name = relative(this.root, path);
    return this.#isGit ? name : pathInGit(name);
  }

  #look(directory: string, entries: readonly Dirent[]): Looked<readonly string[]> {
    const inGit = this.inGit(directory);
    if (inGit !== undefined) return gitControl(inGit, entries);
    return {
      found: entries.filter(({ name }) => this.controlOf(join(directory, name)) !== undefined).map(({ name }) => name),
      below: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    };
  }

  #seen(path: string): Seen | undefined {
    try {
      const stat = lstatSync(path, { bigint: true });
      if (stat.isDirectory()) return { identity: "", state: { type: "directory" } };
      if (stat.isSymbolicLink()) return { identity: "", state: { type: "link", target: readlinkSync(path) } };
      const identity = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, stat.mode].join(":");
      const known = this.#known.get(path) ?? this.#knownTargets.get(path);
      if (known?.identity === identity) return known;
      // Writing into a pipe changes its times, so these do not identify it.
      if (!stat.isFile()) return { identity: "", state: { type: "other", identity: `${stat.ino}:${stat.mode}` } };
      if (stat.size > maxBytes)
        return { identity, state: { type: "other", identity: ofLarge(stat), mode: Number(stat.mode & 0o7777n) } };
      const isSettled = BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > settledNs;
      const bytes = readFileSync(path);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      this.#bytes.keep(sha256, bytes);
      const state: ControlState = { type: "file", mode: Number(stat.mode & 0o7777n), sha256 };
      return { identity: isSettled && timesAreTrue(path) ? identity : "", state };
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      // A file that may not be read cannot be obeyed either.
      if (code === "EACCES") return { identity: "", state: { type: "other", identity: "unreadable" } };
      throw error;
    }
  }
}

/** Text that identifies a file that is too large to be read; undefined for a smaller file. */
export function largeFileIdentity(path: string): string | undefined {
  const stat = entryAt(path);
  return stat?.isFile() === true && stat.size > maxBytes ? ofLarge(stat) : undefined;
}

/** Without the device, whose number may change when the machine restarts. */
function ofLarge({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(":");
}

/** Directories that may not be listed are reported as unreadable by the walk. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

export function sameState(one: ControlState | undefined, other: ControlState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.type === "file") return other.type === "file" && one.sha256 === other.sha256 && one.mode === other.mode;
  if (one.type === "link") return other.type === "link" && one.target === other.target;
  if (one.type === "other") return other.type === "other" && one.identity === other.identity;
  return other.type === "directory";
}
