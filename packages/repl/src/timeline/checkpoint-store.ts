import type { AgentClient } from "@gennai/client/connection/connection";
import {
  type CheckpointList,
  listCheckpoints,
  type Restored,
  type RestoreRequest,
  restoreCheckpoint,
} from "@gennai/client/session/checkpoints";
import { signal } from "@preact/signals";
import { type Problem, problemOf } from "../look/problem.ts";

export interface CheckpointView {
  /** undefined until the first answer. */
  readonly list: CheckpointList | undefined;
  /** What restoring would do, which a person must agree to. */
  readonly preview: (Restored & { readonly checkpointId: string }) | undefined;
  /** What the last restore did. */
  readonly done: Restored | undefined;
  readonly busy: boolean;
  readonly problem: Problem | undefined;
}

const nothing: CheckpointView = {
  list: undefined,
  preview: undefined,
  done: undefined,
  busy: false,
  problem: undefined,
};

/** A session's checkpoints, as a person uses them: look at the list, see what would happen, agree. */
export class CheckpointStore implements Disposable {
  readonly #client: Pick<AgentClient, "listCheckpoints" | "restoreCheckpoint">;
  readonly #sessionId: string;
  readonly #over = new AbortController();

  readonly view = signal<CheckpointView>(nothing);

  constructor(options: {
    readonly client: Pick<AgentClient, "listCheckpoints" | "restoreCheckpoint">;
    readonly sessionId: string;
  }) {
    this.#client = options.client;
    this.#sessionId = options.sessionId;
  }

  load(): Promise<void> {
    return this.#work("Load checkpoints", async (signal) => {
      const list = await listCheckpoints(this.#client, this.#sessionId, { signal });
      return { list };
    });
  }

  preview(checkpointId: string): Promise<void> {
    return this.#work("Preview a restore", async () => {
      const preview = await this.#restore({ checkpointId, dryRun: true });
      return { preview: { ...preview, checkpointId }, done: undefined };
    });
  }

  /** @param force paths to restore although others have changed them since */
  restore(checkpointId: string, force: readonly string[] = []): Promise<void> {
    return this.#work("Restore", async (signal) => {
      const done = await this.#restore({ checkpointId });
      const forced = force.length === 0 ? undefined : await this.#restore({ checkpointId, paths: force, force: true });
      const list = await listCheckpoints(this.#client, this.#sessionId, { signal });
      return { done: forced === undefined ? done : joined(done, forced), preview: undefined, list };
    });
  }

  dismiss(): void {
    this.view.value = { ...this.view.peek(), preview: undefined, done: undefined, problem: undefined };
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  #restore(request: Omit<RestoreRequest, "sessionId">): Promise<Restored> {
    const { signal } = this.#over;
    return restoreCheckpoint(this.#client, { ...request, sessionId: this.#sessionId }, { signal });
  }

  async #work(action: string, work: (signal: AbortSignal) => Promise<Partial<CheckpointView>>): Promise<void> {
    if (this.view.peek().busy) return;
    this.view.value = { ...this.view.peek(), busy: true, problem: undefined };
    try {
      const changes = await work(this.#over.signal);
      this.view.value = { ...this.view.peek(), ...changes, busy: false };
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.view.value = { ...this.view.peek(), busy: false, problem: problemOf(error, action) };
    }
  }
}

function joined(one: Restored, other: Restored): Restored {
  const restored = new Set(other.files.map(({ path }) => path));
  return {
    restoreId: other.restoreId || one.restoreId,
    files: [...one.files, ...other.files],
    lines: one.lines,
    skipped: one.skipped.filter(({ path }) => !restored.has(path)),
  };
}
