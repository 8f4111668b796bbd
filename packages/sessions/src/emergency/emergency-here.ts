import { existsSync } from "node:fs";
import { join } from "node:path";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import type { EmergencyChange, EmergencyRequest } from "./emergency-change.ts";
import { EmergencyStore } from "./emergency-store.ts";

/** The controls as they stand, and what led there. */
export interface EmergencyReport {
  readonly state: EmergencyState & { readonly problem?: string };
  /** Newest last. */
  readonly changes: readonly EmergencyChange[];
}

/** The emergency controls of a state directory, for a person at a terminal: no server need run. */
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

  /** @param limit of the changes */
  report(limit: number): EmergencyReport {
    return { state: this.#store.current(), changes: this.#store.history(limit) };
  }

  /**
   * Switches a control for every server that has this state directory, those that start later too. It is recorded in the
   * ledger of the workspace. False when somebody else switched it on at the same moment: then it stays on. Rejects with
   * `ServiceError` `invalid_argument`, or `StoreError` when it cannot be kept.
   */
  async switch(request: Omit<EmergencyRequest, "via">, workspaceRoot: string): Promise<boolean> {
    const redactor = await createRedactor({ secrets: [] });
    const reason = await redactor.redact(request.reason);
    // A control holds everywhere, and one may switch it from anywhere: only a workspace gets a ledger by that.
    const isWorkspace = [".orchestration", ".git"].some((name) => existsSync(join(workspaceRoot, name)));
    return this.#store.change({ ...request, via: "cli", reason }, isWorkspace ? [workspaceRoot] : []).effective;
  }

  /**
   * Reports a stop of all work by any process, within a fraction of a second. One that stands already is in the report.
   * @param listener must not throw
   */
  onStopAll(listener: (change: EmergencyChange) => void): Disposable {
    return this.#store.onChange((changes) => {
      const stop = changes.findLast(({ effective, state }) => effective && state.stopAll);
      if (stop !== undefined) listener(stop);
    });
  }

  /** Adds a change, which may be another process's, to the ledger of a workspace that has no record of it yet. Throws `StoreError`. */
  record(change: EmergencyChange, workspaceRoot: string): void {
    this.#store.record(change, [workspaceRoot]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#store[Symbol.asyncDispose]();
  }
}
