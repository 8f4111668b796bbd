import { type ProcessEntry, type ProcessSession, processTree, writtenBytesOf } from "./process-table.ts";

/**
 * The processes of one command, as they are seen from look to look. One that was seen once stays known: it may leave the
 * session, lose its parent, or end, and what it wrote counts all the same.
 */
export class SeenProcesses {
  readonly #session: ProcessSession;
  /** By number and start; a number is given to another process later. */
  readonly #written = new Map<string, number>();
  #known: readonly ProcessEntry[] = [];

  constructor(session: ProcessSession) {
    this.#session = session;
  }

  /** Those that run now. */
  look(): readonly ProcessEntry[] {
    this.#known = processTree(this.#session, this.#known);
    for (const { id, started } of this.#known) {
      const key = `${id} ${started}`;
      this.#written.set(key, Math.max(this.#written.get(key) ?? 0, writtenBytesOf(id)));
    }
    return this.#known;
  }

  /** What they wrote to disks up to the last look, those that ended included. */
  get writtenBytes(): number {
    return this.#written.values().reduce((sum, written) => sum + written, 0);
  }
}
