import { existsSync } from "node:fs";
import { join } from "node:path";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import type { EmergencyChange, EmergencyRequest } from "./emergency-change.ts";
import { EmergencyStore } from "./emergency-store.ts";

/** The current state of the controls, and their history. */
export interface EmergencyReport {
  readonly state: EmergencyState & { readonly problem?: string };
  /** Newest last. */
  readonly changes: readonly EmergencyChange[];
}

/** The emergency controls of a state directory, for a user at a terminal: no server needs to run. */
export class EmergencyHere implements AsyncDisposable {
  readonly #store: EmergencyStore;

  private constructor(store: EmergencyStore) {
    this.#store = store;
  }

  /** Rejects with `StoreError`. */
  static async open(
    stateDir: string,
    options: { readonly toolVersion: string; readonly onWarning: (text: string) => void },
  ): Promise<EmergencyHere> {
    return new EmergencyHere(await EmergencyStore.open(stateDir, { ...options, now: Date.now }));
  }

  /** @param limit maximum number of changes */
  report(limit: number): EmergencyReport {
    return { state: this.#store.current(), changes: this.#store.history(limit) };
  }

  /**
   * Changes a control for every server with this state directory, including ones started later, and records it in the
   * workspace's ledger. False if someone else tightened it at the same moment: then it stays on. Rejects with `ServiceError`
   * `invalid_argument`, or `StoreError` if it cannot be saved.
   */
  async switch(request: Omit<EmergencyRequest, "via">, workspaceRoot: string): Promise<boolean> {
    const redactor = await createRedactor({ secrets: [] });
    const reason = await redactor.redact(request.reason);
    // A control applies everywhere and can be switched from any directory: only workspaces get a ledger for it.
    const isWorkspace = [".orchestration", ".git"].some((name) => existsSync(join(workspaceRoot, name)));
    return this.#store.change({ ...request, via: "cli", reason }, isWorkspace ? [workspaceRoot] : []).effective;
  }

  /**
   * Reports a stop of all work by any process within a fraction of a second. One already in force is in the report.
   * @param listener must not throw
   */
  onStopAll(listener: (change: EmergencyChange) => void): Disposable {
    return this.#store.onChange((changes) => {
      const stop = changes.findLast(({ effective, state }) => effective && state.stopAll);
      if (stop !== undefined) listener(stop);
    });
  }

  /**
   * Adds a change, possibly by another process, to the ledger of a workspace that has no record of it yet. Throws `StoreError`.
   */
  record(change: EmergencyChange, workspaceRoot: string): void {
    this.#store.record(change, [workspaceRoot]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#store[Symbol.asyncDispose]();
  }
}
