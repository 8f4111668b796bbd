import { setTimeout as delay } from "node:timers/promises";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { endState } from "../rpc/session-client.ts";
import type { ReplicaWorld } from "./replica-world.ts";

/** A client behind a load balancer: when the server it listens at goes, it goes on at another one from where it was. */
export class Listener implements AsyncDisposable {
  readonly events: InvokeEvent[] = [];
  readonly #world: ReplicaWorld;
  readonly #sessionId: string;
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;
  #at: number;
  #replicas: number;

  constructor(world: ReplicaWorld, sessionId: string, options: { readonly at: number; readonly replicas: number }) {
    this.#world = world;
    this.#sessionId = sessionId;
    this.#at = options.at;
    this.#replicas = options.replicas;
    this.#reading = this.#read();
  }

  /** Where it listens now. */
  get at(): number {
    return this.#at;
  }

  async until<Found>(
    what: string,
    find: (events: readonly InvokeEvent[]) => Found | undefined,
    milliseconds = 45_000,
  ): Promise<Found> {
    const deadline = performance.now() + milliseconds;
    for (;;) {
      const found = find(this.events);
      if (found !== undefined) return found;
      if (performance.now() > deadline) {
        const seen = this.events.map(({ seq, event }) => `${seq} ${event.case}`).join(", ");
        throw new Error(`${what} did not come. There came: ${seen}\n${this.#world.output}`);
      }
      await delay(20);
    }
  }

  /** How the turn ended. */
  end(turnId: string): Promise<string> {
    return this.until(`the end of ${turnId}`, (events) => {
      const state = endState(events.filter((event) => event.turnId === turnId));
      return ["COMPLETED", "ERROR", "CANCELLED", "INTERRUPTED"].includes(state) ? state : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const connection = new AbortController();
      const onAbort = () => connection.abort();
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        const stream = this.#world.client(this.#at).subscribe(
          {
            sessionId: this.#sessionId,
            afterSeq: this.events.at(-1)?.seq ?? 0n,
            client: {
              clientId: "window-1",
              capabilities: { fileRead: true, executeCommand: true, confirmation: true },
            },
          },
          { signal: connection.signal },
        );
        for await (const event of stream) if (event.seq > 0n) this.events.push(event);
      } catch {
        // That server is gone, or has no contact with the log; another one has.
      }
      signal.removeEventListener("abort", onAbort);
      if (signal.aborted) return;
      await delay(200);
      this.#at = (this.#at + 1) % this.#replicas;
    }
  }
}
