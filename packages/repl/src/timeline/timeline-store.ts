import type { CallOptions, GovernanceClient } from "@gennai/client/connection/connection";
import type { BlobSource } from "@gennai/client/review/change-content";
import { PanelStore, type StoreCall } from "../look/panel-store.ts";
import type { Problem } from "../look/problem.ts";
import { type TimelineRecord, timelineRecord } from "./timeline-record.ts";

/** The result of a check of the whole ledger. */
export interface LedgerCheck {
  /** `ok`, or what is wrong. */
  readonly status: string;
  readonly message: string;
  readonly records: number;
  readonly purged: number;
  /** undefined: none. */
  readonly firstBadSeq: number | undefined;
}

export interface TimelineView {
  /** Oldest first, without gaps. */
  readonly records: readonly TimelineRecord[];
  /** True if there are older records. */
  readonly hasOlder: boolean;
  readonly loaded: boolean;
  readonly busy: boolean;
  readonly check: LedgerCheck | undefined;
  readonly checking: boolean;
  readonly problem: Problem | undefined;
}

export interface TimelineStoreOptions {
  readonly client: Pick<GovernanceClient, "listLedgerRecords" | "verifyLedger">;
  /** A session of the workspace; empty: the default workspace. */
  readonly sessionId: string;
  /** Loads the bytes of a digest that a session names. */
  readonly blob: (sessionId: string, sha256: string, options: CallOptions) => Promise<Uint8Array>;
  readonly pageSize?: number;
}

/** The records of a workspace's ledger, loaded page by page from the newest backwards. */
export class TimelineStore extends PanelStore<TimelineView> {
  readonly #options: TimelineStoreOptions;

  constructor(options: TimelineStoreOptions) {
    super({
      records: [],
      hasOlder: false,
      loaded: false,
      busy: false,
      check: undefined,
      checking: false,
      problem: undefined,
    });
    this.#options = options;
  }

  /** Loads the newest page or, if one was loaded, what has been added since. */
  async load(): Promise<void> {
    const last = this.state.peek().records.at(-1)?.seq;
    await this.#page(async (options) => {
      if (last === undefined) return this.#newest(0, options);
      const { client, sessionId } = this.#options;
      const { records } = await client.listLedgerRecords({ sessionId, afterSeq: BigInt(last), limit: 1000 }, options);
      this.set({ records: [...this.state.peek().records, ...records.map(fromMessage)] });
    });
  }

  async older(): Promise<void> {
    const first = this.state.peek().records[0]?.seq;
    if (first !== undefined) await this.#page((options) => this.#newest(first, options));
  }

  /** Has the server check the whole ledger. */
  async verify(): Promise<void> {
    if (this.state.peek().checking) return;
    const { client, sessionId } = this.#options;
    await this.attempt(
      "Verify the ledger",
      { during: { checking: true }, after: { checking: false } },
      async (options) => {
        const answer = await client.verifyLedger({ sessionId }, options);
        const { status, message, records, purged, firstBadSeq } = answer;
        this.set({
          check: {
            status,
            message,
            records,
            purged,
            firstBadSeq: firstBadSeq === 0n ? undefined : Number(firstBadSeq),
          },
        });
      },
    );
  }

  /** Loads files that a record's session keeps. */
  contents({ sessionId }: Pick<TimelineRecord, "sessionId">): BlobSource {
    return (sha256, options) => this.#options.blob(sessionId, sha256, options);
  }

  async #newest(before: number, options: StoreCall): Promise<void> {
    const { client, sessionId, pageSize = 100 } = this.#options;
    const request = { sessionId, newest: true, beforeSeq: BigInt(before), limit: pageSize };
    const page = (await client.listLedgerRecords(request, options)).records.map(fromMessage);
    const first = page[0]?.seq ?? 1;
    this.set({ records: [...page, ...this.state.peek().records], hasOlder: first > 1, loaded: true });
  }

  async #page(load: (options: StoreCall) => Promise<void>): Promise<void> {
    if (this.state.peek().busy) return;
    await this.attempt("Load the timeline", { during: { busy: true }, after: { busy: false } }, load);
  }
}

function fromMessage({ seq, json }: { readonly seq: bigint; readonly json: string }): TimelineRecord {
  return timelineRecord(Number(seq), json);
}
