import { lstatSync } from "node:fs";
import { type ConnectionOptions, SqliteConnection } from "@gennai/machine/sqlite-connection";

/**
 * Number of this process's connections to a file, by device and inode. SQLite uses POSIX locks, which belong to the process: all
 * are released when any descriptor of the file is closed. Reading such a file without SQLite while a connection is open therefore
 * releases its locks, and another process may delete the log that the connection still writes to.
 * https://www.sqlite.org/howtocorrupt.html, 2.2
 */
const connections = new Map<string, number>();

/** A connection that is counted until it is closed. */
export class CountedConnection extends SqliteConnection {
  readonly #inode: string | undefined;

  constructor(file: string, options: ConnectionOptions) {
    super(file, options);
    this.#inode = inodeOf(file);
    if (this.#inode !== undefined) connections.set(this.#inode, (connections.get(this.#inode) ?? 0) + 1);
  }

  override [Symbol.dispose](): void {
    const wasOpen = this.isOpen;
    super[Symbol.dispose]();
    if (!wasOpen || this.#inode === undefined) return;
    const left = (connections.get(this.#inode) ?? 1) - 1;
    if (left > 0) connections.set(this.#inode, left);
    else connections.delete(this.#inode);
  }
}

/** Whether this process has a connection to the file, so that nothing but SQLite may open it. */
export function isOpenHere(file: string): boolean {
  const inode = inodeOf(file);
  return inode !== undefined && connections.has(inode);
}

function inodeOf(file: string): string | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
