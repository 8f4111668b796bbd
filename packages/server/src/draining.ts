import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ServiceError } from "@gennai/machine/service-error";

/** Milliseconds between two looks at whether turns still run. */
const lookEvery = 50;

/** A server that is about to leave: it takes no new turns, and lets those under way end. */
export class Draining {
  #begun = false;

  get begun(): boolean {
    return this.#begun;
  }

  /** Throws `ServiceError` `unavailable`, after which clients retry, on another server by then. */
  assertTurnsMayStart(): void {
    if (!this.#begun) return;
    throw new ServiceError("unavailable", "This server is about to stop and starts no more turns.", {
      reason: "server_draining",
      hint: "Try again in a moment: another server, or this one when it is back, takes it.",
    });
  }

  /** Resolves when no turn runs any more, or after `timeoutMs` milliseconds. */
  async begin(turnsRunning: () => Promise<number>, timeoutMs: number): Promise<void> {
    this.#begun = true;
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline && (await turnsRunning()) > 0) await delay(lookEvery);
    // Who follows a session is told in the turn of the event loop after the one in which its end was written.
    await nextTurn();
    await nextTurn();
  }
}
