import type { AgentClient } from "@gennai/client/connection/connection";
import {
  type CheckpointList,
  listCheckpoints,
  type Restored,
  type RestoreRequest,
  restoreCheckpoint,
} from "@gennai/client/session/checkpoints";
import { PanelStore, type StoreCall } from "../look/panel-store.ts";
import type { Problem } from "../look/problem.ts";

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

/** A session's checkpoints, as a person uses them: look at the list, see what would happen, agree. */
export class CheckpointStore extends PanelStore<CheckpointView> {
  readonly #client: Pick<AgentClient, "listCheckpoints" | "restoreCheckpoint">;
  readonly #sessionId: string;

  constructor(client: Pick<AgentClient, "listCheckpoints" | "restoreCheckpoint">, sessionId: string) {
    super({ list: undefined, preview: undefined, done: undefined, busy: false, problem: undefined });
    this.#client = client;
    this.#sessionId = sessionId;
  }

  load(): Promise<void> {
    return this.#work("Load checkpoints", async ({ signal }) => {
      this.set({ list: await listCheckpoints(this.#client, this.#sessionId, { signal }) });
    });
  }

  preview(checkpointId: string): Promise<void> {
    return this.#work("Preview a restore", async () => {
      const preview = await this.#restore({ checkpointId, dryRun: true });
      this.set({ preview: { ...preview, checkpointId }, done: undefined });
    });
  }

  /** @param force paths to restore although others have changed them since */
  restore(checkpointId: string, force: readonly string[] = []): Promise<void> {
    return this.#work("Restore", async ({ signal }) => {
      const done = await this.#restore({ checkpointId });
      const forced = force.length === 0 ? undefined : await this.#restore({ checkpointId, paths: force, force: true });
      const list = await listCheckpoints(this.#client, this.#sessionId, { signal });
      this.set({ done: forced === undefined ? done : joined(done, forced), preview: undefined, list });
    });
  }

  override dismiss(): void {
    this.set({ preview: undefined, done: undefined });
    super.dismiss();
  }

  #restore(request: Omit<RestoreRequest, "sessionId">): Promise<Restored> {
    return restoreCheckpoint(this.#client, { ...request, sessionId: this.#sessionId }, { signal: this.over });
  }

  async #work(action: string, work: (call: StoreCall) => Promise<void>): Promise<void> {
    if (this.state.peek().busy) return;
    await this.attempt(action, { during: { busy: true }, after: { busy: false } }, work);
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
