import { type BackgroundRun, listBackgroundRuns, stopBackgroundRun } from "@gennai/client/background-runs";
import type { AgentClient } from "@gennai/client/connection/connection";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Problem, problemOf } from "../../look/problem.ts";

/** A session's present background runs: loaded from the server whenever an event reports a change. */
export class BackgroundStore implements Disposable {
  readonly problem = signal<Problem | undefined>(undefined);
  readonly #client: AgentClient;
  readonly #sessionId: string;
  readonly #running = signal<readonly BackgroundRun[]>([]);
  readonly running: ReadonlySignal<readonly BackgroundRun[]> = this.#running;
  readonly #over = new AbortController();

  constructor(options: { readonly client: AgentClient; readonly sessionId: string }) {
    this.#client = options.client;
    this.#sessionId = options.sessionId;
  }

  handle(events: readonly InvokeEvent[]): void {
    if (events.some(({ event }) => event.case === "backgroundRunChanged")) void this.load();
  }

  /** Never rejects. */
  async load(): Promise<void> {
    await this.#try("Reading what runs in the background", async () => {
      const runs = await listBackgroundRuns(this.#client, this.#sessionId, { signal: this.#over.signal });
      this.#running.value = runs.filter(({ isRunning }) => isRunning);
    });
  }

  /** Never rejects. */
  async stop(runId: string): Promise<void> {
    await this.#try("Stopping it", async () => {
      await stopBackgroundRun(this.#client, { sessionId: this.#sessionId, runId }, { signal: this.#over.signal });
    });
    await this.load();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  async #try(action: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#over.signal.aborted) this.problem.value = problemOf(error, action);
    }
  }
}
