import type { ObservedFile } from "@gennai/governance/tool";

/** Files that calls changed. */
export interface ChangedFiles {
  /** By path, the id of the last call that changed the file. */
  readonly calls: ReadonlyMap<string, string>;
  /** Id of the last call that changed a file. */
  readonly callId: string;
}

/** What a turn's calls read and changed, for the server's own actions between two model calls. */
export class NotedFiles {
  #observed: ObservedFile[] = [];
  #changed: ChangedFiles | undefined;

  observed(files: readonly ObservedFile[]): void {
    this.#observed.push(...files);
  }

  changed(paths: readonly string[], callId: string): void {
    const changed = paths.map((path) => [path, callId] as const);
    this.#changed = { calls: new Map([...(this.#changed?.calls ?? []), ...changed]), callId };
  }

  /** What the server's own calls read since the last call of this method; the model's calls have it in their results. */
  takeObserved(): readonly ObservedFile[] {
    const taken = this.#observed;
    this.#observed = [];
    return taken;
  }

  /** Files changed since the last call of this method; undefined if none. */
  takeChanged(): ChangedFiles | undefined {
    const taken = this.#changed;
    this.#changed = undefined;
    return taken;
  }
}
