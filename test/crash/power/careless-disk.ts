import fs from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, relative } from "node:path";

/**
 * A disk that keeps of a file only what was synced, as it is after a power cut: a sync of anything brings all names that were made,
 * changed or removed by then to the disk, as the journals of ext4 and XFS do, and the content of that one file. A file whose
 * content was never synced has its name and no byte.
 *
 * It watches this process's syncs through `node:fs`; who syncs in another way, as SQLite does, says so with `synced`. Linux only.
 */
export class CarelessDisk {
  readonly #root: string;
  /** Content as last synced, by what names the file (`fileId`). */
  readonly #contents = new Map<string, Buffer>();
  /** Files by relative path as of the last sync; undefined for a directory. */
  #names = new Map<string, string | undefined>();

  private constructor(root: string) {
    this.#root = root;
  }

  /** Before anything that syncs is loaded: it may keep the functions that are replaced here. */
  static async watch(root: string): Promise<CarelessDisk> {
    const disk = new CarelessDisk(root);
    const { fsync, fsyncSync, fdatasync, fdatasyncSync } = fs;
    const note = (descriptor: number) => disk.#noteDescriptor(descriptor);
    const later =
      (sync: typeof fsync) =>
      (descriptor: number, done: fs.NoParamCallback): void =>
        sync(descriptor, (error) => {
          if (error === null) note(descriptor);
          done(error);
        });
    const now = (sync: typeof fsyncSync) => (descriptor: number) => {
      sync(descriptor);
      note(descriptor);
    };
    Object.assign(fs, {
      fsync: later(fsync),
      fdatasync: later(fdatasync),
      fsyncSync: now(fsyncSync),
      fdatasyncSync: now(fdatasyncSync),
    });
    await using handle = await open(root, "r");
    const prototype = Object.getPrototypeOf(handle) as { sync(): Promise<void>; datasync(): Promise<void> };
    for (const name of ["sync", "datasync"] as const) {
      const sync = prototype[name];
      prototype[name] = async function (this: fs.promises.FileHandle) {
        await sync.call(this);
        note(this.fd);
      };
    }
    syncBuiltinESMExports();
    return disk;
  }

  /** Marks these files as synced by others. */
  synced(...paths: readonly string[]): void {
    for (const path of paths) if (fs.existsSync(path)) this.#note(path);
  }

  /** Writes to a directory what a power cut right now would leave. With `names` "now", all names are on the disk as well. */
  cut(directory: string, names: "synced" | "now"): void {
    if (names === "now") this.#names = this.#namesNow();
    fs.mkdirSync(directory, { recursive: true });
    for (const [path, file] of this.#names) {
      const target = join(directory, path);
      if (file === undefined) fs.mkdirSync(target, { recursive: true });
      else {
        fs.mkdirSync(dirname(target), { recursive: true });
        fs.writeFileSync(target, this.#contents.get(file) ?? "", { mode: 0o600 });
      }
    }
  }

  #noteDescriptor(descriptor: number): void {
    this.#note(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
  }

  #note(path: string): void {
    if (relative(this.#root, path).startsWith("..")) return;
    const status = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
    if (status?.isFile() === true) this.#contents.set(fileId(status), fs.readFileSync(path));
    this.#names = this.#namesNow();
  }

  #namesNow(): Map<string, string | undefined> {
    const names = new Map<string, string | undefined>();
    for (const name of fs.readdirSync(this.#root, { recursive: true, encoding: "utf8" })) {
      const status = fs.lstatSync(join(this.#root, name), { bigint: true, throwIfNoEntry: false });
      if (status !== undefined) names.set(name, status.isDirectory() ? undefined : fileId(status));
    }
    return names;
  }
}

/** An inode's number comes again after its file is gone. */
function fileId({ ino, birthtimeNs }: fs.BigIntStats): string {
  return `${ino} ${birthtimeNs}`;
}
