import type { Sealing } from "../ledger/ledger-table.ts";
import type { ForgottenSession, LogBatch, LogPlace, SessionHead } from "./session-log.ts";

/** One step of a log that is kept elsewhere, in the form in which its local copy takes it. */
export type AbsorbedStep =
  | {
      readonly type: "create";
      readonly sessionId: string;
      readonly workspaceRoot: string;
      readonly user: string;
      readonly time: number;
      /** Content of the ledger's file before the first record of a new workspace. */
      readonly preamble: Uint8Array;
    }
  | { readonly type: "take-over"; readonly sessionId: string; readonly epoch: number }
  | { readonly type: "title"; readonly sessionId: string; readonly title: string }
  | {
      readonly type: "forget";
      readonly sessionId: string;
      /** Name of the person who asked for it. */
      readonly by: string;
      /** Milliseconds since the epoch. */
      readonly time: number;
      /** 32 random hex digits, for the tombstones. */
      readonly salt: string;
      readonly toolVersion: string;
    }
  | {
      readonly type: "batch";
      readonly sessionId: string;
      readonly batch: LogBatch;
      readonly expected: LogPlace;
      readonly sealing: Sealing;
      /** True if the ledger's file in the workspace is updated by this process. */
      readonly mirrored: boolean;
    };

/** How a log forgets data that is also kept elsewhere. */
export interface Forgetting {
  /** Forgets for good, in its own transaction. Rejects with `StoreError`. */
  forget(head: SessionHead, by: string): Promise<ForgottenSession>;
  /** Takes a step of a log that is kept elsewhere. Within a transaction. */
  absorb(head: SessionHead, step: Extract<AbsorbedStep, { readonly type: "forget" }>): void;
}
