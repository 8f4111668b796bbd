import { lstatSync } from "node:fs";
import { type ConnectionOptions, SqliteConnection } from "@gennai/machine/sqlite-connection";

/**
 * How many connections of this process there are to a file, by device and inode. SQLite locks files by POSIX locks, which
 * belong to the process: all of them go when any descriptor of the file is closed. Anyone who reads such a file without SQLite
 * while a connection is open takes its locks away, and another process may then delete the log that the connection goes on
 * writing to. https://www.sqlite.org/howtocorrupt.html, 2.2
 */
const connections = new Map<string, number>();

/** A connection that this process remembers to have, until it is closed. */
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
