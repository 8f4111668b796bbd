import { type ProcessEntry, type ProcessSession, processTree, writtenBytesOf } from "./process-table.ts";

/**
 * The processes of one command over repeated looks. A process that was seen once stays known: it may leave the session, lose its
 * parent, or end, and what it wrote still counts.
 */
export class SeenProcesses {
  readonly #session: ProcessSession;
  /** By number and start time, because a number is reused later. */
  readonly #written = new Map<string, number>();
  #known: readonly ProcessEntry[] = [];

  constructor(session: ProcessSession) {
    this.#session = session;
  }

  /** The processes that run now. */
  look(): readonly ProcessEntry[] {
    this.#known = processTree(this.#session, this.#known);
    for (const { id, started } of this.#known) {
      const key = `${id} ${started}`;
      this.#written.set(key, Math.max(this.#written.get(key) ?? 0, writtenBytesOf(id)));
    }
    return this.#known;
  }

  /** Bytes written to disks up to the last look, also by processes that have ended. */
  get writtenBytes(): number {
    return this.#written.values().reduce((sum, written) => sum + written, 0);
  }
}
