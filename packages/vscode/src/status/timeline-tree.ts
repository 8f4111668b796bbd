import type { GovernanceClient } from "@gennai/client/connection/connection";
import type { LedgerRecord } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { readRecord } from "@gennai/protocol/read-record";
import * as vscode from "vscode";

export interface TimelineSource {
  readonly governance: GovernanceClient;
  readonly sessionId: string;
}

const pageSize = 500;
const mostShown = 2000;

/** A ledger record as a row of the timeline. */
interface TimelineRow {
  readonly label: string;
  readonly description: string;
  readonly tone: "plain" | "denied" | "asked";
  readonly time: string;
  /** Ids of its calls; they were only about to run. */
  readonly begins: readonly string[];
  /** Ids of its calls, which ended. */
  readonly ends: readonly string[];
}

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

/** The row of a record. A line that is not a record gets a row that says so. */
export function timelineRow(json: string): TimelineRow {
  const line = readRecord(json);
  if (line === undefined)
    return { label: "(no record)", description: "", tone: "denied", time: "", begins: [], ends: [] };
  const kind = line.kind || "record";
  const calls = line.calls.map(({ tool, verdict }) => `${tool} ${verdict === "allow" ? "" : verdict}`.trim());
  const ids = line.calls.map(({ callId }) => callId);
  const isBegun = kind === "intent" && ids.length > 0;
  const files = line.files.map(({ path }) => path).filter((path) => path !== "");
  const verdicts = line.calls.map(({ verdict }) => verdict);
  return {
    label: [...(kind === "outcome" && calls.length > 0 ? [] : [isBegun ? "starts" : kind]), ...calls].join(" · "),
    description: [line.timestamp.slice(11, 19), ...files].filter((part) => part !== "").join(" · "),
    tone: verdicts.includes("deny") ? "denied" : verdicts.includes("ask") ? "asked" : "plain",
    time: line.timestamp,
    begins: isBegun ? ids : [],
    ends: isBegun ? [] : ids,
  };
}
