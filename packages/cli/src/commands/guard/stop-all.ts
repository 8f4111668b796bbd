import type { EmergencyChange } from "@gennai/sessions/rules/emergency-change";
import type { EmergencyHere } from "@gennai/sessions/rules/emergency-here";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import { CliError } from "../../terminal/cli-error.ts";
import { exitCode } from "../../terminal/exit-code.ts";

/** Aborts a signal when all work is stopped by an emergency control. */
export class StopAll implements Disposable {
  readonly #controls: EmergencyHere;
  readonly #subscription: Disposable;
  readonly #stopping = new AbortController();
  #change: EmergencyChange | undefined;

  constructor(controls: EmergencyHere) {
    this.#controls = controls;
    this.#subscription = controls.onStopAll((change) => {
      this.#change ??= change;
      this.#stopping.abort(
        new CliError(
          `It was ended by the emergency control stop-all (${change.by}: ${change.reason}); nothing of it was kept, the workspace is as before.`,
          { exitCode: exitCode.refused, next: ["gennai emergency stop-all off --reason …"] },
        ),
      );
    });
  }

  /** Its reason is a `CliError`. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Records in the workspace's ledger that this control ended some work, and the control itself. Rejects with `StoreError`. */
  async record(options: PersonsLedgerOptions, work: Readonly<Record<string, string>>): Promise<void> {
    const change = this.#change;
    if (change === undefined) return;
    this.#controls.record(change, options.workspaceRoot);
    await using ledger = await PersonsLedger.open(options);
    await ledger.record("outcome", {
      ...work,
      ended: `the emergency control stop-all (${change.by}: ${change.reason})`,
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}
