import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import { controlPath } from "@gennai/governance/policies/files/control-paths";
import type { PutBackFile } from "@gennai/governance/tool";
import { errorMessage } from "@gennai/protocol/error-message";
import { entryAt } from "../entry-at.ts";
import { entryKey, gitlink, indexLayout, objectName } from "../git-data/git-index.ts";
import type { RepositoryPaths } from "../sandbox/host/repository-paths.ts";
import { settledNs } from "../workspace/files/remembered-tree.ts";
import { timesAreTrue } from "../workspace/files/true-times.ts";
import { isStaged, objectOf } from "./is-staged.ts";
import type { Aside } from "./put-back/aside.ts";
import { SetBack } from "./put-back/set-back.ts";
import { type ChangeSurroundings } from "./state/agreed-change.ts";
import type { ControlState } from "./state/control-state.ts";
import { type ControlTargets, targetControl } from "./state/control-targets.ts";
import type { KeptBytes } from "./state/kept-bytes.ts";

/** Git's index as it was when a command began. */
export interface SeenIndex {
  /** Absolute. */
  readonly path: string;
  /** Top of the work tree. */
  readonly workTree: string;
  /** Absent if there was no index. */
  readonly state?: ControlState | undefined;
}

const maxBytes = 256 * 1024 * 1024;

/** Remembers a work tree's index: entries added to it unseen would go into the next commit. */
export class IndexWatch {
  readonly #bytes: KeptBytes;
  readonly #known = new Map<string, { readonly stamp: string; readonly sha256: string }>();

  constructor(bytes: KeptBytes) {
    this.#bytes = bytes;
  }

  see({ writable, workTree }: RepositoryPaths): SeenIndex {
    const path = `${writable.at(-1) ?? ""}/index`;
    return { path, workTree, state: this.#state(path) };
  }

  /** The states that the next look relies on; their bytes must be kept. Forgets indexes that are gone. */
  remembered(): readonly ControlState[] {
    for (const path of this.#known.keys()) if (!existsSync(path)) this.#known.delete(path);
    return [...this.#known.values()].map(({ sha256 }) => ({ type: "file", mode: 0, sha256 }));
  }

  /** What git tracks, by the index before the command and now. */
  around(
    { path, workTree, state }: SeenIndex,
    targets: ControlTargets,
  ): Pick<ChangeSurroundings, "isTracked" | "isAsInIndex"> {
    const stateNow = this.#state(path);
    const isControl = controlIn(workTree, targets);
    // Read only when asked: most commands change no control file, and an index can be large.
    let read: { readonly before: ControlEntries; readonly now: ControlEntries } | undefined;
    const entries = () =>
      (read ??= { before: this.#entries(state, isControl), now: this.#entries(stateNow, isControl) });
    const nameOf = (file: string): string => relative(workTree, file);
    return {
      // If an index cannot be read, the file counts as tracked, so that it is put back.
      isTracked: (file) => {
        const { before, now } = entries();
        return before === undefined || now === undefined || before.has(nameOf(file)) || now.has(nameOf(file));
      },
      isAsInIndex: (file, after) => {
        const { now } = entries();
        const entry = now?.get(nameOf(file));
        if (entry === undefined || after === undefined)
          return entry === undefined && after === undefined && now !== undefined;
        return entry.endsWith(` ${this.#object(after, entry)}`);
      },
    };
  }

  /**
   * Restores the index if its entries for control files or other repositories were changed other than by git: an entry that git
   * added equals the file in the work tree. Call it after the work tree is restored.
   */
  putBack(
    seen: SeenIndex,
    {
      agreed,
      aside,
      targets,
    }: { readonly agreed: AgreedControl; readonly aside: Aside; readonly targets: ControlTargets },
  ): readonly PutBackFile[] {
    const { path, workTree, state } = seen;
    const { git, gitMoves, installs, manifests } = agreed;
    if (git === "alone" || (git === "beside" && gitMoves)) return [];
    const stateNow = this.#state(path);
    if (isSame(state, stateNow)) return [];
    const isControl = controlIn(workTree, targets);
    const before = this.#entries(state, isControl);
    // If the index could not be read before, there is nothing to compare with.
    if (before === undefined) return [];
    const now = this.#entries(stateNow, isControl);
    const mayAdd = git === "beside" || installs || manifests;
    const isFine = (name: string): boolean => {
      const entry = now?.get(name);
      return entry === before.get(name) || (mayAdd && isStaged(workTree, name, { entry, before: before.get(name) }));
    };
    if (now !== undefined && [...new Set([...before.keys(), ...now.keys()])].every(isFine)) return [];
    try {
      const lying = SetBack.at(dirname(path), { bytes: this.#bytes, aside }).to(path, state);
      return [{ path, what: "restored", reason: `what the next commit says of control files${lying}` }];
    } catch (error) {
      return [{ path, what: "failed", reason: errorMessage(error) }];
    }
  }

  #state(path: string): ControlState | undefined {
    const stat = entryAt(path);
    if (stat === undefined) return undefined;
    if (!stat.isFile() || stat.size > maxBytes) return { type: "other", identity: "unreadable" };
    const stamp = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(":");
    const known = this.#known.get(path);
    const mode = Number(stat.mode & 0o7777n);
    // Git replaces its index instead of writing into it: a new index has a new inode.
    if (known?.stamp === stamp) return { type: "file", mode, sha256: known.sha256 };
    // Decided before the file is read, because reading a large file takes longer than a tick.
    const isSettled = BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > settledNs;
    const bytes = readFileSync(path);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.#bytes.keep(sha256, bytes);
    if (isSettled && timesAreTrue(path)) this.#known.set(path, { stamp, sha256 });
    return { type: "file", mode, sha256 };
  }

  #entries(state: ControlState | undefined, isControl: (name: string) => boolean): ControlEntries {
    if (state === undefined) return new Map();
    return state.type === "file" ? controlEntries(this.#bytes.read(state.sha256), isControl) : undefined;
  }

  #object(state: ControlState, entry: string): string {
    const content =
      state.type === "file" ? this.#bytes.read(state.sha256) : Buffer.from(state.type === "link" ? state.target : "");
    return objectOf(content, entry);
  }
}

type ControlEntries = ReadonlyMap<string, string> | undefined;

/** True for equal bytes, or no file both times; false if a file could not be read. */
function isSame(before: ControlState | undefined, now: ControlState | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  return before.type === "file" && now.type === "file" && before.sha256 === now.sha256;
}

/**
 * Mode and object of each control file in an index, and of each link to another repository; undefined if the index cannot be
 * read.
 *
 * @param isControl tells whether a path from the work tree's top is a control file
 */
function controlEntries(bytes: Uint8Array, isControl: (path: string) => boolean): ControlEntries {
  const layout = indexLayout(bytes);
  if (layout === undefined) return undefined;
  const counted = layout.entries.filter(({ mode, path }) => mode === gitlink || isControl(path));
  return new Map(counted.map((entry) => [entryKey(entry), `${entry.mode.toString(8)} ${objectName(layout, entry)}`]));
}

function controlIn(workTree: string, targets: ControlTargets): (name: string) => boolean {
  return (name) => controlPath(name) !== undefined || targetControl(targets, join(workTree, name)) !== undefined;
}
