import { type BackgroundRun, listBackgroundRuns, stopBackgroundRun } from "@gennai/client/background-runs";
import type { AgentClient } from "@gennai/client/connection/connection";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { PanelStore } from "../../look/panel-store.ts";
import type { Problem } from "../../look/problem.ts";

interface BackgroundState {
  readonly running: readonly BackgroundRun[];
  readonly problem: Problem | undefined;
}

/** A session's present background runs: loaded from the server whenever an event reports a change. */
export class BackgroundStore extends PanelStore<BackgroundState> {
  readonly #client: AgentClient;
  readonly #sessionId: string;

  constructor(client: AgentClient, sessionId: string) {
    super({ running: [], problem: undefined });
    this.#client = client;
    this.#sessionId = sessionId;
  }

  handle(events: readonly InvokeEvent[]): void {
    if (events.some(({ event }) => event.case === "backgroundRunChanged")) void this.load();
  }

  /** Never rejects. */
  async load(): Promise<void> {
    await this.guard("Reading what runs in the background", async (call) => {
      const runs = await listBackgroundRuns(this.#client, this.#sessionId, call);
      this.set({ running: runs.filter(({ isRunning }) => isRunning) });
    });
  }

  /** Never rejects. */
  async stop(runId: string): Promise<void> {
    await this.guard("Stopping it", async (call) => {
      await stopBackgroundRun(this.#client, { sessionId: this.#sessionId, runId }, call);
    });
    await this.load();
  }
}
