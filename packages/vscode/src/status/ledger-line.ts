import * as z from "zod/mini";
import { catch as otherwise } from "zod/mini";

const text = otherwise(z.string(), "");

const lineSchema = z.object({
  timestamp: text,
  metadata: otherwise(
    z.object({
      seq: otherwise(z.number(), 0),
      kind: otherwise(z.string(), "record"),
      calls: otherwise(z.array(z.object({ call_id: text, tool: text, verdict: text })), []),
    }),
    { seq: 0, kind: "record", calls: [] },
  ),
  files: otherwise(z.array(z.object({ path: text })), []),
});

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
  const line = parse(json);
  if (line === undefined)
    return { label: "(no record)", description: "", tone: "denied", time: "", begins: [], ends: [] };
  const { kind } = line.metadata;
  const calls = line.metadata.calls.map(({ tool, verdict }) => `${tool} ${verdict === "allow" ? "" : verdict}`.trim());
  const ids = line.metadata.calls.map(({ call_id: id }) => id);
  const isBegun = kind === "intent" && ids.length > 0;
  const files = line.files.map(({ path }) => path).filter((path) => path !== "");
  const verdicts = line.metadata.calls.map(({ verdict }) => verdict);
  return {
    label: [...(kind === "outcome" && calls.length > 0 ? [] : [isBegun ? "starts" : kind]), ...calls].join(" · "),
    description: [line.timestamp.slice(11, 19), ...files].filter((part) => part !== "").join(" · "),
    tone: verdicts.includes("deny") ? "denied" : verdicts.includes("ask") ? "asked" : "plain",
    time: line.timestamp,
    begins: isBegun ? ids : [],
    ends: isBegun ? [] : ids,
  };
}

function parse(json: string): z.infer<typeof lineSchema> | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}
