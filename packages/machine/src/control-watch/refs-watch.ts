import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import { isProtectedBranch } from "@gennai/governance/policies/git/branch";
import type { PutBackFile } from "@gennai/governance/tool";
import { errorMessage } from "@gennai/protocol/error-message";
import { entryAt } from "../entry-at.ts";
import { defaultRemoteBranch } from "../git-data/git-head.ts";
import { packedRefs, soundPacked, withoutPacked } from "../git-data/packed-refs.ts";
import { isWithin } from "../sandbox/host/host-layout.ts";
import type { RepositoryPaths } from "../sandbox/host/repository-paths.ts";
import { systemErrorCode } from "../system-error.ts";
import type { Aside } from "./put-back/aside.ts";
import { changedBefore } from "./put-back/put-back.ts";
import { SetBack } from "./put-back/set-back.ts";
import { isAgreedMove, remoteHead } from "./state/agreed-move.ts";
import { type ControlState, sameState } from "./state/control-state.ts";
import type { KeptBytes } from "./state/kept-bytes.ts";

/** State of a work tree's refs when a command began. */
export interface SeenRefs {
  /** Top of the work tree. */
  readonly workTree: string;
  /** Git's directory of this work tree, which has HEAD, and the common one, which has the refs. Absolute. */
  readonly directory: string;
  readonly common: string;
  /** Globs of protected branches, besides those that always are. */
  readonly protect: readonly string[];
  /** HEAD's file. */
  readonly head?: ControlState | undefined;
  /** Values of protected refs, by full name. */
  readonly refs: readonly (readonly [name: string, value: string])[];
  /** The file of packed refs. */
  readonly packed?: ControlState | undefined;
}

interface PutBackOptions {
  readonly agreed: AgreedControl;
  readonly aside: Aside;
  readonly deadline: number;
  readonly untouchable: readonly string[];
}

const packedFile = "packed-refs";
const maxBytes = 64 * 1024 * 1024;
/** Separates a ref file's content from a note of what is unusual about it. */
const odd = "\0";
/** Remembers HEAD and the protected branches, and restores them if they were not moved as git was told. */
export class RefsWatch {
  readonly #bytes: KeptBytes;
  /** What was last seen of each repository, by git's directory. */
  readonly #last = new Map<string, SeenRefs>();

  constructor(bytes: KeptBytes) {
    this.#bytes = bytes;
  }

  /** The states that a next look will most likely find again. */
  remembered(): readonly ControlState[] {
    for (const directory of this.#last.keys()) if (!existsSync(directory)) this.#last.delete(directory);
    return [...this.#last.values()]
      .flatMap(({ head, packed }) => [head, packed])
      .filter((state) => state !== undefined);
  }

  see({ writable, workTree }: RepositoryPaths, protectedBranches: readonly string[]): SeenRefs {
    const common = writable[0] ?? "";
    const directory = writable.at(-1) ?? common;
    const byDefault = defaultRemoteBranch(workTree);
    const protect = [...protectedBranches, ...(byDefault === undefined ? [] : [byDefault])];
    const packed = join(common, packedFile);
    if (readText(packed) === undefined) {
      const most = `${maxBytes / 1024 ** 2} MiB`;
      throw new Error(`${packed} cannot be read, or is larger than ${most}. Correct it, or have git keep fewer refs.`);
    }
    const seen: SeenRefs = {
      workTree,
      directory,
      common,
      protect,
      head: this.#fileState(join(directory, "HEAD")),
      refs: [...protectedRefs(common, protect)],
      packed: this.#fileState(packed),
    };
    this.#last.set(directory, seen);
    return seen;
  }

  putBack(seen: SeenRefs, options: PutBackOptions): readonly PutBackFile[] {
    const { workTree, directory, common, protect } = seen;
    const done: PutBackFile[] = [];
    const attempt = (path: string, reason: string, what: PutBackFile["what"], set: () => string): void => {
      const name = isWithin(path, workTree) ? relative(workTree, path) : path;
      try {
        const lying = set();
        done.push({ path: name, what, reason: `${reason}${lying}` });
      } catch (error) {
        done.push({ path: name, what: "failed", reason: errorMessage(error) });
      }
    };
    const { agreed, aside, deadline } = options;
    const head = join(directory, "HEAD");
    const now = this.#fileState(head);
    const onto = { before: this.#branchOf(seen.head), isProtected: (branch: string) => isProtected(branch, protect) };
    if (!sameState(seen.head, now) && changedBefore(deadline, head, directory)) {
      const after = this.#branchOf(now);
      if (!isAgreedMove({ ref: "HEAD", after }, agreed, onto))
        attempt(head, "where HEAD stands", "restored", () =>
          SetBack.at(directory, { bytes: this.#bytes, aside }).to(head, seen.head),
        );
    }
    const packed = join(common, packedFile);
    const text = readText(packed);
    const isSound = text !== undefined && packedRefs(text).isSound;
    if (!isSound && !sameState(seen.packed, this.#fileState(packed)) && changedBefore(deadline, packed, common))
      attempt(packed, "packed refs that git reads otherwise than they say", "restored", () =>
        SetBack.at(common, { bytes: this.#bytes, aside }).to(
          packed,
          text === undefined ? seen.packed : this.#keep(soundPacked(text)),
        ),
      );
    const before = new Map(seen.refs);
    const after = protectedRefs(common, protect);
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(name), after.get(name)];
      if (was === is || isAgreedMove({ ref: name }, agreed, onto)) continue;
      const path = join(common, name);
      const isPacked = is !== undefined && entryAt(path) === undefined;
      if (!changedBefore(deadline, isPacked ? join(common, packedFile) : path, common)) continue;
      if (isMovedElsewhere({ name, is }, seen, options.untouchable)) continue;
      const there = is === undefined ? "" : `; it had come to be at ${said(is).slice(0, 70)}`;
      const reason = `${whatIs(name)}${there}`;
      attempt(path, reason, was === undefined ? "removed" : "restored", () => this.#setRef(seen, { name, was, aside }));
    }
    return done;
  }

  #setRef(
    { common }: SeenRefs,
    { name, was, aside }: { readonly name: string; readonly was: string | undefined; readonly aside: Aside },
  ): string {
    const back = SetBack.at(common, { bytes: this.#bytes, aside });
    const path = join(common, name);
    // Git looks for a ref's own file before packed refs.
    const lying = back.to(path, was === undefined ? undefined : this.#keep(`${said(was)}\n`));
    const file = join(common, packedFile);
    const text = textOf(file);
    const times = packedRefs(text).refs.filter(([other]) => other === name).length;
    if (times <= (was === undefined ? 0 : 1)) return lying;
    return `${lying}${back.to(file, this.#keep(withoutPacked(text, name)))}`;
  }

  #keep(text: string): ControlState {
    const bytes = Buffer.from(text, "latin1");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.#bytes.keep(sha256, bytes);
    return { type: "file", mode: 0o644, sha256 };
  }

  #fileState(path: string): ControlState | undefined {
    const stat = entryAt(path);
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) return { type: "link", target: readlinkSync(path) };
    if (stat.isDirectory()) return { type: "directory" };
    if (!stat.isFile() || stat.size > maxBytes) return { type: "other", identity: "unreadable" };
    const kept = this.#keep(textOf(path));
    return kept.type === "file" ? { ...kept, mode: Number(stat.mode & 0o7777n) } : kept;
  }

  /** The branch that HEAD names; undefined for a commit. */
  #branchOf(state: ControlState | undefined): string | undefined {
    const text =
      state?.type === "file"
        ? Buffer.from(this.#bytes.read(state.sha256)).toString("latin1")
        : state?.type === "link"
          ? `ref: ${state.target}`
          : "";
    return /^ref:\s*refs\/heads\/(\S+)\s*$/.exec(text)?.[1];
  }
}

function isProtected(branch: string, protect: readonly string[]): boolean {
  return isProtectedBranch(branch, { extra: protect }) !== undefined;
}

function whatIs(name: string): string {
  if (name === remoteHead) return "the remote's default branch";
  return name.startsWith(replaced) ? "another object in the place of the true one" : "a protected branch";
}

function said(value: string): string {
  return value.slice(value.indexOf(odd) + 1);
}

/** Refs that show other objects in place of the true ones. */
const replaced = "refs/replace/";

/** Protected branches, the remote's default and replaced objects, as git would read them: a ref's own file first. */
function protectedRefs(common: string, protect: readonly string[]): ReadonlyMap<string, string> {
  const isWatched = (name: string): boolean =>
    name === remoteHead ||
    name.startsWith(replaced) ||
    (name.startsWith("refs/heads/") && isProtected(name.slice("refs/heads/".length), protect));
  const refs = new Map<string, string>();
  const packed = packedRefs(textOf(join(common, packedFile)));
  for (const [name, value] of packed.refs) {
    if (!isWatched(name)) continue;
    const other = refs.get(name);
    // It is uncertain which of the two git uses, so both count.
    refs.set(name, other === undefined ? value : `${other.replaceAll(odd, " ")}${odd}${value}`);
  }
  for (const name of [...filesBelow(common, "refs/heads"), ...filesBelow(common, "refs/replace"), remoteHead]) {
    const value = isWatched(name) ? looseRef(common, name) : undefined;
    if (value !== undefined) refs.set(name, value);
  }
  return refs;
}

function filesBelow(common: string, directory: string): readonly string[] {
  try {
    return readdirSync(join(common, directory), { withFileTypes: true }).flatMap((entry) => {
      const name = `${directory}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(common, name) : [name];
    });
  } catch (error) {
    if (systemErrorCode(error) !== undefined) return [];
    throw error;
  }
}

/** Value of a ref's own file; a ref that a link leads to, written without git, counts as a different value. */
function looseRef(common: string, name: string): string | undefined {
  const path = join(common, name);
  const stat = entryAt(path);
  if (stat === undefined || stat.isDirectory()) return undefined;
  const text = textOf(path).trim();
  const isThroughLink = stat.isSymbolicLink() || realpathSync(dirname(path)) !== dirname(path);
  return isThroughLink ? `${stat.isSymbolicLink() ? readlinkSync(path) : "link"}${odd}${text}` : text;
}

/** Text in latin1, which keeps all bytes. Empty if there is no file; undefined for what is not a file, or too large for refs. */
function readText(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(path, "latin1") : undefined;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return code === "ENOENT" ? "" : undefined;
  }
}

function textOf(path: string): string {
  return readText(path) ?? "";
}

/**
 * Whether a work tree that the command could not reach is on the branch and, by its reflog, moved it: the user committed
 * meanwhile.
 */
function isMovedElsewhere(
  { name, is }: { readonly name: string; readonly is: string | undefined },
  { common, directory }: SeenRefs,
  untouchable: readonly string[],
): boolean {
  if (is === undefined) return false;
  const worktrees = join(common, "worktrees");
  const others = [common, ...namesIn(worktrees).map((each) => join(worktrees, each))];
  return others.some((other) => {
    const [head, log] = [join(other, "HEAD"), join(other, "logs/HEAD")];
    const isOutOfReach = [head, log].every((path) => untouchable.some((mount) => isWithin(path, mount)));
    if (other === directory || !isOutOfReach || textOf(head).trim() !== `ref: ${name}`) return false;
    return textOf(log).trimEnd().split("\n").at(-1)?.split(" ")[1] === is;
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
