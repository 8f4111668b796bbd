import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { namesInOwn } from "@gennai/machine/entries/names-in";
import { replaceFileSync } from "@gennai/machine/replace-file";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { directoriesAbove } from "@gennai/protocol/directories-above";
import { parsedJson } from "@gennai/protocol/json-value";
import {
  type FileState,
  isSameConflict,
  isSameState,
  maxStagedBytes,
  type StagedConflict,
  type StagedFile,
  type StagedTreeRecord,
  type StagedVersion,
  stagedTreeSchema,
} from "./staged-file.ts";

/** Content with permission bits. */
export interface FileBytes {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** A change of one path in the staged tree. */
export interface StagedUpdate {
  /** Relative to the workspace. */
  readonly path: string;
  /** The present file in the workspace; undefined for no file. */
  readonly base: FileBytes | undefined;
  /** undefined: the file is removed. */
  readonly staged: FileBytes | undefined;
  /** The command that did it; empty for a file tool. */
  readonly command: string;
  readonly movedFrom?: string | undefined;
}

/** Most files in one proposal: a person must be able to read it. */
const maxFiles = 500;
/** Most versions of a file that are kept. */
const maxVersions = 20;

/**
 * A session's proposed changes that no user has kept yet: files over the workspace. One record describes everything and is
 * replaced as a whole, so that after a kill either the old or the new tree exists; contents are written first. `view` is derived
 * from the record.
 */
export class StagedTree {
  readonly session: string;
  readonly root: string;
  /** False if an earlier server's record could not be read, and is lost. */
  readonly wasReadable: boolean;
  readonly #directory: string;
  #record: StagedTreeRecord;
  #files: ReadonlyMap<string, StagedFile>;

  private constructor(directory: string, { record, wasReadable }: { record: StagedTreeRecord; wasReadable: boolean }) {
    this.session = record.session;
    this.root = record.root;
    this.wasReadable = wasReadable;
    this.#directory = directory;
    this.#record = record;
    this.#files = byPath(record);
    rmSync(join(directory, "view"), { recursive: true, force: true });
    for (const file of record.files) this.#show(file);
    this.#sweep();
  }

  /** The staged tree of a session; an empty one if there is none. @param root root of the workspace */
  static open(stateDir: string, session: string, { path: root }: Pick<WorkspaceRoot, "path">): StagedTree {
    const directory = stagedTreeDirectory(stateDir, session);
    const nothing: StagedTreeRecord = { version: 2, session, root, open: [], proposed: "", files: [] };
    const written = read(join(directory, "staged.json"));
    if (written === undefined) return new StagedTree(directory, { record: nothing, wasReadable: true });
    const { data } = stagedTreeSchema.safeParse(parsedJson(written));
    const contents = new Set(namesInOwn(join(directory, "contents")));
    const isWhole =
      data?.root === root && data.files.every((file) => contentsOf(file).every((one) => contents.has(one)));
    return data !== undefined && isWhole
      ? new StagedTree(directory, { record: data, wasReadable: true })
      : new StagedTree(directory, { record: nothing, wasReadable: false });
  }

  /** By path, in alphabetical order. */
  get files(): ReadonlyMap<string, StagedFile> {
    return this.#files;
  }

  /** Directory that contains every staged file, and nothing else. */
  get view(): string {
    const path = join(this.#directory, "view");
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Changes whenever the staged files change; empty without any. */
  get digest(): string {
    const states = this.#record.files.map(({ path, base, staged }) => [path, base, staged]);
    return states.length === 0 ? "" : createHash("sha256").update(JSON.stringify(states)).digest("hex");
  }

  /** Digest of what was proposed last. */
  get proposed(): string {
    return this.#record.proposed;
  }

  /** Proposals made of it whose review has not been applied yet; newest last. */
  get open(): readonly string[] {
    return this.#record.open;
  }

  /** True if a staged file is below a path. */
  hasBelow(path: string): boolean {
    const prefix = path === "" ? "" : `${path}/`;
    return [...this.#files.values()].some((file) => file.staged !== null && file.path.startsWith(prefix));
  }

  /** The staged file that takes the place of a parent directory of a path. */
  fileAbove(path: string): string | undefined {
    return directoriesAbove(path).find((way) => (this.#files.get(way)?.staged ?? null) !== null);
  }

  content(sha256: string): Buffer {
    return readFileSync(join(this.#directory, "contents", sha256));
  }

  /** Applies all updates, or none. A file that equals the workspace's is no longer staged. Throws `ToolFailure` `too_large`. */
  update(updates: readonly StagedUpdate[]): void {
    this.refuseTooMuch(
      updates.map(({ path, base, staged }) => ({
        path,
        base: base?.bytes.length ?? 0,
        staged: staged?.bytes.length ?? 0,
      })),
    );
    const files = new Map(this.#files);
    try {
      for (const update of updates) files.set(update.path, this.#updated(files.get(update.path), update));
      this.replace([...files.values()]);
    } catch (error) {
      this.#sweep();
      throw error;
    }
  }

  /** Throws `ToolFailure` `too_large` if these files and what is staged are more than a person can review. Sizes in bytes. */
  refuseTooMuch(more: readonly { readonly path: string; readonly base: number; readonly staged: number }[]): void {
    const sizeOf = (state: FileState | null): number =>
      state === null ? 0 : lstatSync(join(this.#directory, "contents", state.sha256)).size;
    const sizes = new Map(
      this.#record.files.map(({ path, base, staged }) => [path, { base: sizeOf(base), staged: sizeOf(staged) }]),
    );
    for (const { path, base, staged } of more) sizes.set(path, { base: sizes.get(path)?.base ?? base, staged });
    const all = [...sizes.values()];
    const bytes = Math.max(
      all.reduce((sum, { base }) => sum + base, 0),
      all.reduce((sum, { staged }) => sum + staged, 0),
    );
    if (all.length > maxFiles || bytes > maxStagedBytes) throw tooMuch(all.length, bytes);
  }

  /** Replaces all staged files. Their contents must be stored already. */
  replace(files: readonly StagedFile[], also: Partial<Pick<StagedTreeRecord, "open" | "proposed">> = {}): void {
    const wanted = files.filter(({ base, staged }) => !isSameState(base, staged));
    this.#write({ ...this.#record, ...also, files: wanted.toSorted((one, other) => (one.path < other.path ? -1 : 1)) });
  }

  /** Ends a conflict: the staged content now has both sides' changes. Does nothing if the conflict is another one by now. */
  settle(path: string, conflict: StagedConflict): void {
    const file = this.#files.get(path);
    if (file === undefined || conflict === "unreadable" || !isSameConflict(file.conflict, conflict)) return;
    const base = conflict === "no-file" ? null : conflict;
    this.replace([...this.#files.values()].map((one) => (one === file ? { ...file, base, conflict: null } : one)));
  }

  /** Records that everything staged was proposed. */
  markProposed(proposalId: string): void {
    this.#write({ ...this.#record, open: [...this.#record.open, proposalId], proposed: this.digest });
  }

  /** Stores the bytes of a file. @returns its state, which names them */
  store({ bytes, mode }: FileBytes): FileState {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const path = join(this.#directory, "contents", sha256);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!existsSync(path)) replaceFileSync(path, bytes, { durable: true });
    return { sha256, mode };
  }

  #updated(known: StagedFile | undefined, { path, base, staged, command, movedFrom }: StagedUpdate): StagedFile {
    const after = staged === undefined ? null : this.store(staged);
    const version: StagedVersion = { sha256: after?.sha256 ?? null, command };
    return {
      path,
      base: known === undefined ? (base === undefined ? null : this.store(base)) : known.base,
      staged: after,
      versions: withVersion(known?.versions ?? [], version),
      conflict: known?.conflict ?? null,
      at: Date.now(),
      movedFrom: movedFrom ?? known?.movedFrom ?? "",
    };
  }

  #write(record: StagedTreeRecord): void {
    const before = this.#files;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    replaceFileSync(join(this.#directory, "staged.json"), JSON.stringify(record), { durable: true });
    this.#record = record;
    this.#files = byPath(record);
    const changed = [...new Set([...before.keys(), ...this.#files.keys()])].filter(
      (path) => before.get(path) !== this.#files.get(path),
    );
    for (const path of changed) if ((before.get(path)?.staged ?? null) !== null) this.#hide(path);
    for (const path of changed) {
      const file = this.#files.get(path);
      if (file !== undefined) this.#show(file);
    }
    this.#sweep();
  }

  #show({ path, staged, at }: StagedFile): void {
    if (staged === null) return;
    const place = join(this.view, path);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    writeFileSync(place, this.content(staged.sha256), { flag: "wx", mode: 0o600 });
    utimesSync(place, at / 1000, at / 1000);
    chmodSync(place, staged.mode | 0o400);
  }

  #hide(path: string): void {
    rmSync(join(this.view, path), { force: true });
    for (const way of directoriesAbove(path).toReversed()) {
      const place = join(this.view, way);
      if (!existsSync(place)) continue;
      if (readdirSync(place).length > 0) return;
      rmSync(place, { recursive: true });
    }
  }

  /** Removes contents that no staged file names. */
  #sweep(): void {
    const wanted = new Set(this.#record.files.flatMap(contentsOf));
    const place = join(this.#directory, "contents");
    for (const name of namesInOwn(place)) if (!wanted.has(name)) rmSync(join(place, name), { force: true });
  }
}

/** Private directory of a session's staged tree, even if there is none yet. */
function stagedTreeDirectory(stateDir: string, session: string): string {
  const name = createHash("sha256").update(session).digest("hex").slice(0, 24);
  return join(stateDir, "proposals", name);
}

/** Removes the staged trees for which `isMeant` is true, with everything in them. */
export function removeStagedTrees(
  stateDir: string,
  isMeant: (of: { readonly session: string; readonly root: string }) => boolean,
): void {
  const parent = join(stateDir, "proposals");
  for (const name of namesInOwn(parent)) {
    const { data } = stagedTreeSchema.safeParse(parsedJson(read(join(parent, name, "staged.json")) ?? ""));
    // The owner of an unreadable one is unknown, and it cannot be used any more.
    if (data === undefined || isMeant(data)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function byPath({ files }: StagedTreeRecord): ReadonlyMap<string, StagedFile> {
  return new Map(files.map((file) => [file.path, file]));
}

/** Consecutive versions of the same command count as one. */
function withVersion(versions: readonly StagedVersion[], version: StagedVersion): StagedVersion[] {
  const last = versions.at(-1);
  const before = last?.command === version.command ? versions.slice(0, -1) : versions;
  return [...before, version].slice(-maxVersions);
}

function contentsOf({ base, staged, versions, conflict }: StagedFile): readonly string[] {
  const theirs = typeof conflict === "object" ? conflict?.sha256 : undefined;
  return [base?.sha256, staged?.sha256, theirs, ...versions.map(({ sha256 }) => sha256)].filter(
    (sha256) => sha256 !== undefined && sha256 !== null,
  );
}

function tooMuch(files: number, bytes: number): ToolFailure {
  const why = files > maxFiles ? `${files} files` : `${Math.ceil(bytes / 1024 / 1024)} MiB`;
  return new ToolFailure(
    "too_large",
    `A proposal of ${why} is more than a person can review; nothing of this was staged.`,
    {
      hint: `Change fewer files: at most ${maxFiles}, of ${maxStagedBytes / 1024 / 1024} MiB before and after. What is generated belongs into what git ignores.`,
    },
  );
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
