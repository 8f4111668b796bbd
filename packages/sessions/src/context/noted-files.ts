import type { ObservedFile } from "@gennai/governance/tool";

/** Files that calls changed. */
export interface ChangedFiles {
  /** By path, the id of the last call that changed the file. */
  readonly calls: ReadonlyMap<string, string>;
  /** Id of the last call that changed any. */
  readonly callId: string;
}

/** What a turn's calls saw and changed, noted for what the server does by itself between two model calls. */
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

  /** What the server's own calls saw since this was last asked; what the model's saw is in their results. */
  takeObserved(): readonly ObservedFile[] {
    const taken = this.#observed;
    this.#observed = [];
    return taken;
  }

  /** Undefined when nothing changed since this was last asked. */
  takeChanged(): ChangedFiles | undefined {
    const taken = this.#changed;
    this.#changed = undefined;
    return taken;
  }
}
