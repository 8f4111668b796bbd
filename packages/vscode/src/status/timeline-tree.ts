import type { GovernanceClient } from "@gennai/client/connection/connection";
import type { LedgerRecord } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import * as vscode from "vscode";
import { type TimelineRow, timelineRow } from "./ledger-line.ts";

export interface TimelineSource {
  readonly governance: GovernanceClient;
  readonly sessionId: string;
}

const pageSize = 500;
const mostShown = 2000;

/** Records of the workspace's ledger, newest first. */
export class TimelineTree implements vscode.TreeDataProvider<LedgerRecord> {
  readonly #source: () => TimelineSource | undefined;
  readonly #changed: () => void;
  #records: readonly LedgerRecord[] = [];
  #loadedFor = "";
  #loading: Promise<void> | undefined;

  constructor(source: () => TimelineSource | undefined, changed: () => void) {
    this.#source = source;
    this.#changed = changed;
  }

  /** Loads new records; after a change of the session, all. */
  load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  getChildren(parent?: LedgerRecord): LedgerRecord[] {
    if (parent !== undefined) return [];
    const rows = this.#records.map((record) => ({ record, row: timelineRow(record.json) }));
    const ended = new Set(rows.flatMap(({ row }) => row.ends));
    // A call has a record before it runs, and one that says how it ended.
    const isOpen = ({ begins }: TimelineRow) => begins.length === 0 || begins.some((id) => !ended.has(id));
    return rows.filter(({ row }) => isOpen(row)).map(({ record }) => record);
  }

  getTreeItem(record: LedgerRecord): vscode.TreeItem {
    const row = timelineRow(record.json);
    const item = new vscode.TreeItem(row.label);
    item.id = String(record.seq);
    item.description = row.description;
    item.iconPath = new vscode.ThemeIcon(...iconOf(row));
    item.tooltip = `Record ${record.seq}${row.time === "" ? "" : `, ${row.time}`}`;
    item.command = { command: "gennai.timeline.openRecord", title: "Open", arguments: [record] };
    item.accessibilityInformation = { label: `${row.label}, ${row.description}` };
    return item;
  }

  async #read(): Promise<void> {
    const source = this.#source();
    if (source === undefined) {
      this.#records = [];
      this.#changed();
      return;
    }
    if (this.#loadedFor !== source.sessionId) this.#records = [];
    this.#loadedFor = source.sessionId;
    for (;;) {
      const afterSeq = this.#records[0]?.seq ?? 0n;
      const request = { sessionId: source.sessionId, afterSeq, limit: pageSize };
      const { records } = await source.governance.listLedgerRecords(request, { signal: AbortSignal.timeout(15_000) });
      this.#records = [...records.toReversed(), ...this.#records].slice(0, mostShown);
      if (records.length < pageSize) break;
    }
    this.#changed();
  }
}

function iconOf({ tone }: TimelineRow): [string, vscode.ThemeColor?] {
  switch (tone) {
    case "denied":
      return ["circle-slash", new vscode.ThemeColor("list.errorForeground")];
    case "asked":
      return ["question", new vscode.ThemeColor("list.warningForeground")];
    default:
      return ["circle-small"];
  }
}
