import { stat } from "node:fs/promises";
import { readNewestLedgerRecords } from "@gennai/store/audit/ledger-records";
import { ledgerPathOf } from "@gennai/store/ledger/file/ledger-file-name";
import { WorkspaceProvenance } from "./workspace-provenance.ts";

/** Workspaces whose provenance is held at the same time: each may be as large as its ledger. */
const mostHeld = 4;

/** Milliseconds after which a ledger is checked again even without a visible change. */
const checkedAgain = 60_000;

interface Held {
  /** State of the ledger from which it was read. */
  readonly mark: string;
  readonly at: number;
  readonly provenance: Promise<WorkspaceProvenance>;
}

/**
 * The provenance of one state directory's workspaces, for a server with repeated queries: results are kept until the ledger has
 * another record, its file another length or time, or a minute has passed. Simultaneous queries share one reading.
 */
export class KnownWorkspaces {
  readonly #stateDir: string;
  readonly #written: () => Promise<void>;
  readonly #now: () => number;
  /** By root, longest unused first. */
  readonly #held = new Map<string, Held>();

  /**
   * @param written resolves when the ledgers' files have everything in the store: a file that lags behind is no sign of damage
   */
  constructor(stateDir: string, written: () => Promise<void>, now: () => number = Date.now) {
    this.#stateDir = stateDir;
    this.#written = written;
    this.#now = now;
  }

  /** Rejects with `StoreError`, and with errors of reading files. @param workspaceRoot real absolute path */
  async of(workspaceRoot: string): Promise<WorkspaceProvenance> {
    const mark = await this.#markOf(workspaceRoot);
    const known = this.#held.get(workspaceRoot);
    const isFresh = known !== undefined && known.mark === mark && this.#now() - known.at < checkedAgain;
    const held = isFresh
      ? known
      : {
          mark,
          at: this.#now(),
          provenance: this.#written().then(() => WorkspaceProvenance.open({ workspaceRoot, stateDir: this.#stateDir })),
        };
    this.#held.delete(workspaceRoot);
    this.#held.set(workspaceRoot, held);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= mostHeld) break;
      this.#held.delete(oldest);
    }
    try {
      return await held.provenance;
    } catch (error) {
      // The next question may be answered.
      if (this.#held.get(workspaceRoot) === held) this.#held.delete(workspaceRoot);
      throw error;
    }
  }

  async #markOf(workspaceRoot: string): Promise<string> {
    const stateDir = this.#stateDir;
    const [newest] = readNewestLedgerRecords(stateDir, workspaceRoot, Number.MAX_SAFE_INTEGER, 1);
    const file = await stat(ledgerPathOf({ stateDir, workspaceRoot })).catch(() => undefined);
    return `${newest?.seq ?? 0}:${file?.size ?? -1}:${file?.mtimeMs ?? 0}`;
  }
}
