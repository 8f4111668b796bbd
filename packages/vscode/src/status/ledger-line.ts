import { readRecord } from "@gennai/protocol/read-record";

/** A ledger record as a row of the timeline. */
export interface TimelineRow {
  readonly label: string;
  readonly description: string;
  readonly tone: "plain" | "denied" | "asked";
  readonly time: string;
  /** Ids of its calls; they were only about to run. */
  readonly begins: readonly string[];
  /** Ids of its calls, which ended. */
  readonly ends: readonly string[];
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
