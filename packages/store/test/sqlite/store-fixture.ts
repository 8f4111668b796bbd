import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { openStore, type Store } from "#sqlite/store";

/** A workspace and a state directory, with a session `s` to append records through. */
export class StoreFixture implements AsyncDisposable {
  readonly directory: string;
  readonly root: string;
  readonly stateDir: string;
  readonly mirror: string;
  readonly warnings: string[] = [];
  #seq = 0;

  static async create(): Promise<StoreFixture> {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-store-")));
    const fixture = new StoreFixture(directory);
    await mkdir(fixture.root);
    return fixture;
  }

  private constructor(directory: string) {
    this.directory = directory;
    this.root = join(directory, "workspace");
    this.stateDir = join(directory, "state");
    this.mirror = join(this.root, ".orchestration", "agent_trace.jsonl");
  }

  async open(): Promise<Store> {
    const store = await openStore(this.stateDir, {
      onWarning: (text) => this.warnings.push(text),
      toolVersion: "0.1.0",
    });
    if ((await store.log.head("s")) === undefined) {
      await store.log.create({ sessionId: "s", workspaceRoot: this.root, time: 1 });
    }
    return store;
  }

  /** Appends records one by one and brings the file up to date. */
  async record(store: Store, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await store.log.append("s", { events: [], ledger: [entryOf(++this.#seq)], durable: true }, { seq: 0, epoch: 1 });
    }
    await store.flushLedgers();
  }

  /** Opens, records, closes. */
  async recordAndClose(count: number): Promise<void> {
    await using store = await this.open();
    await this.record(store, count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}

export function entryOf(number: number): LedgerEntry {
  return {
    kind: "intent",
    time: Date.UTC(2026, 0, 1),
    sessionId: "s",
    turnId: `turn-${number}`,
    modelId: "offline",
    revision: "",
    calls: [
      {
        callId: `c${number}`,
        tool: "run_command",
        input: { command: "npm test" },
        verdict: "ask",
        rule: "r",
        risk: "high",
      },
    ],
    files: [],
    details: { number },
  };
}
