import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { hasCode } from "../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../workspace/files/held-directory.ts";
import type { WorkspaceRoot } from "../workspace/paths/workspace-root.ts";

/** Intended attributes of a file. */
export interface FileLook {
  /** Permission bits, without set-id and sticky. */
  readonly mode: number;
  /** Seconds. */
  readonly mtime: number;
}

/**
 * Writes into a run's view of a root, whatever the run and others do there meanwhile: no link is followed. Paths are relative
 * to the root, with `/`. Throws system errors, and `ToolFailure` if a link is in the way.
 */
export class MergedView {
  readonly #root: WorkspaceRoot;

  /** @param path by which this process reaches the view */
  constructor(path: string) {
    const { dev, ino } = lstatSync(`${path}/.`);
    this.#root = { path, device: dev, inode: ino };
  }

  /** Overwrites an existing file in place, as most editors do, so that programs that watch it are told. */
  async write(path: string, contents: AsyncIterable<Uint8Array>, { mode, mtime }: FileLook): Promise<void> {
    using parent = this.#parentOf(path, { create: true });
    const place = parent.entry(nameOf(path));
    if (lstatSync(place, { throwIfNoEntry: false })?.isFile() !== true) this.remove(path);
    const file = await open(place, writing, 0o600).catch((error: unknown) => {
      if (!hasCode(error, "EACCES")) throw error;
      // A file that its owner may not write.
      this.remove(path);
      return open(place, writing, 0o600);
    });
    try {
      // The entry may have become a pipe meanwhile.
      if (!fstatSync(file.fd).isFile()) return;
      for await (const chunk of contents) await writeAll(file, chunk);
      fchmodSync(file.fd, mode);
      futimesSync(file.fd, mtime, mtime);
    } finally {
      await file.close();
    }
  }

  makeDirectory(path: string, mode: number): void {
    using parent = this.#parentOf(path, { create: true });
    const place = parent.entry(nameOf(path));
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) return;
    this.remove(path);
    mkdirSync(place, { mode });
  }

  makeLink(path: string, target: string): void {
    using parent = this.#parentOf(path, { create: true });
    const place = parent.entry(nameOf(path));
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(place) === target)
      return;
    this.remove(path);
    symlinkSync(target, place);
  }

  /** Like `remove`, but a watching program is told even if the tree below has no entry of that name any more. */
  takeAway(path: string): void {
    using parent = this.#parentOf(path);
    const place = parent.entry(nameOf(path));
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) return this.remove(path);
    closeSync(openSync(place, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
    unlinkSync(place);
  }

  /** Removes an entry with all its content. A missing entry is no error. */
  remove(path: string): void {
    using parent = this.#parentOf(path);
    const place = parent.entry(nameOf(path));
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (!stat.isDirectory()) return unlinkSync(place);
    for (const name of this.names(path)) this.remove(`${path}/${name}`);
    rmdirSync(place);
  }

  isDirectory(path: string): boolean {
    using parent = this.#parentOf(path);
    return lstatSync(parent.entry(nameOf(path)), { throwIfNoEntry: false })?.isDirectory() === true;
  }

  names(path: string): readonly string[] {
    using directory = holdDirectory(this.#root, partsOf(path));
    return readdirSync(directory.path);
  }

  #parentOf(path: string, options: { readonly create?: boolean } = {}): HeldDirectory {
    return holdDirectory(this.#root, partsOf(path).slice(0, -1), options);
  }
}

const writing =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_TRUNC |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

function partsOf(path: string): readonly string[] {
  return path === "" ? [] : path.split("/");
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
