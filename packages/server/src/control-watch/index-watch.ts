import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AgreedControl } from "@gennai/governance/policies/agreed-control";
import type { PutBackFile } from "@gennai/governance/tool";
import type { RepositoryPaths } from "../sandbox/repository-paths.ts";
import { type ChangeSurroundings } from "./agreed-change.ts";
import type { ControlState } from "./control-state.ts";
import { readIndex } from "./git-index.ts";
import type { KeptBytes } from "./kept-bytes.ts";
import { SetBack } from "./set-back.ts";

/** Git's index as it was when a command began. */
export interface SeenIndex {
  /** Absolute. */
  readonly path: string;
  /** Top of the work tree. */
  readonly workTree: string;
  /** Absent where there was none. */
  readonly state?: ControlState | undefined;
}

const maxBytes = 256 * 1024 * 1024;

/** Remembers a work tree's index; what is added to it unseen goes into the next commit. */
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

  /** What git tracks, by the index before and now. */
  around({ path, workTree, state }: SeenIndex): Pick<ChangeSurroundings, "isTracked" | "isAsInIndex"> {
    const before = this.#entries(state);
    const now = this.#entries(this.#state(path));
    const nameOf = (file: string): string => relative(workTree, file);
    return {
      // What cannot be told counts as tracked: it is put back then.
      isTracked: (file) =>
        before === undefined || now === undefined || before.has(nameOf(file)) || now.has(nameOf(file)),
      isAsInIndex: (file, after) => {
        const entry = now?.get(nameOf(file));
        if (entry === undefined || after === undefined)
          return entry === undefined && after === undefined && now !== undefined;
        return entry.endsWith(` ${this.#object(after, entry)}`);
      },
    };
  }

  /** Puts the index back where a command that is not git changed what it says of control files or of other repositories. */
  putBack(seen: SeenIndex, agreed: AgreedControl, aside: string): readonly PutBackFile[] {
    const { path, state } = seen;
    if (agreed.git !== "none" || agreed.installs || agreed.manifests || state?.type !== "file") return [];
    const before = this.#entries(state);
    const now = this.#state(path);
    if (before === undefined || isDeepStrictEqual(this.#entries(now), before)) return [];
    new SetBack(dirname(path), { bytes: this.#bytes, aside }).to(path, state);
    return [{ path, what: "restored", reason: "what the next commit says of control files" }];
  }

  #state(path: string): ControlState | undefined {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() !== true || stat.size > maxBytes) return undefined;
    const stamp = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(":");
    const known = this.#known.get(path);
    const mode = Number(stat.mode & 0o7777n);
    // Git replaces its index, it does not write into it: another one is another inode.
    if (known?.stamp === stamp) return { type: "file", mode, sha256: known.sha256 };
    const bytes = readFileSync(path);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.#bytes.keep(sha256, bytes);
    this.#known.set(path, { stamp, sha256 });
    return { type: "file", mode, sha256 };
  }

  #entries(state: ControlState | undefined): ReadonlyMap<string, string> | undefined {
    if (state === undefined) return new Map();
    return state.type === "file" ? readIndex(this.#bytes.read(state.sha256))?.control : undefined;
  }

  #object(state: ControlState, entry: string): string {
    const content =
      state.type === "file" ? this.#bytes.read(state.sha256) : Buffer.from(state.type === "link" ? state.target : "");
    const algorithm = entry.split(" ").at(-1)?.length === 64 ? "sha256" : "sha1";
    return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
  }
}
