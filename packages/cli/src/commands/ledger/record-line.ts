import { actWords } from "@gennai/protocol/model/governance/act-words";
import type { Paint } from "../../terminal/colours.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { utcTime } from "../../terminal/utc-time.ts";
import { fieldsOf, inputWords, listOf, parseRecord, textOf } from "./record-fields.ts";

/** Longest input of a call on its line, in characters. */
const maxInput = 60;

/** A record as one line: seq, time, kind, calls with verdicts, files or decision. Old records show what they have. */
export function describeRecord(line: string, paint: Paint): string {
  const record = parseRecord(line);
  if (record === undefined) return paint("red", `(no record) ${terminalSafe(line.slice(0, 100))}`);
  const metadata = fieldsOf(record.get("metadata"));
  const files = listOf(record.get("files")).map(
    (file) => textOf(fieldsOf(file).get("path")) || textOf(fieldsOf(file).get("relative_path")),
  );
  const calls = listOf(metadata.get("calls")).map((call) => {
    const fields = fieldsOf(call);
    // The files of a change are named behind it.
    const input = files.length > 0 ? "" : inputWords(fields.get("input"), maxInput);
    return [textOf(fields.get("tool")), input, textOf(fields.get("verdict"))].filter((part) => part !== "").join(" ");
  });
  const seq = metadata.get("seq");
  const kind = textOf(metadata.get("kind"));
  const details = fieldsOf(metadata.get("details"));
  const intent = kind === "session" ? "" : textOf(details.get("intent"));
  return [
    (typeof seq === "number" ? String(seq) : "-").padStart(5),
    utcTime(textOf(record.get("timestamp"))),
    paint("cyan", kind.padEnd(8)),
    [agentOf(kind, details), ...decisionOf(kind, details), ...calls, ...files, intent === "" ? "" : `intent ${intent}`]
      .filter((part) => part !== "")
      .join(", "),
  ].join("  ");
}

/** The name of another agent that made the call itself; empty if a session made it. */
function agentOf(kind: string, details: ReadonlyMap<string, unknown>): string {
  return kind === "session" ? "" : textOf(details.get("agent"));
}

/** Content of a record about a user's decision that is neither a call nor a file. */
export function decisionOf(kind: string, details: ReadonlyMap<string, unknown>): readonly string[] {
  const title = textOf(details.get("title"));
  if (title !== "") return [workWithoutSession(kind, details, title)];
  const layer = textOf(details.get("layer"));
  if (layer !== "") return [`${layer} what git ignores: ${listOf(details.get("paths")).map(textOf).join(", ")}`];
  const plan = fieldsOf(details.get("plan"));
  if (plan.has("id")) return [planWords(kind, plan)];
  if (details.get("interrupted") === true) return ["the turn was interrupted"];
  switch (kind) {
    case "emergency":
      return [emergencyWords(details)];
    case "review": {
      const review = fieldsOf(details.get("review"));
      const decisions = listOf(review.get("hunks")).map((hunk) => textOf(fieldsOf(hunk).get("decision")));
      const counts = (["keep", "undo", "edited"] as const).flatMap((decision) => {
        const count = decisions.filter((made) => made === decision).length;
        return count === 0 ? [] : [`${count} ${reviewWords[decision]}`];
      });
      const note = textOf(review.get("note"));
      return [
        `proposal ${shortId(review.get("proposalId"))}: ${counts.length === 0 ? "nothing decided" : counts.join(", ")}`,
        ...(note === "" ? [] : [`“${note}”`]),
      ];
    }
    case "applied":
      return [`proposal ${shortId(details.get("proposalId"))}`];
    case "undo":
      return [`change set ${shortId(details.get("changeSetId"))}`];
    case "key":
      return [`key ${shortId(details.get("from"))} handed over to ${shortId(details.get("to"))}`];
    case "session": {
      const act = actWords(Object.fromEntries(details));
      if (act !== "") return [textOf(act)];
      const intent = textOf(details.get("intent"));
      if (intent !== "") return [`intent ${intent}`];
      return [...details].map(
        ([name, value]) => `${terminalSafe(name)} ${typeof value === "string" ? textOf(value) : JSON.stringify(value)}`,
      );
    }
    default:
      return [];
  }
}

/** Text about a plan's approval, or about how its run or verification began or ended. */
function planWords(kind: string, plan: ReadonlyMap<string, unknown>): string {
  const id = `plan ${shortId(plan.get("id"))}`;
  if (kind === "session") return `${id} approved by ${textOf(plan.get("approved_by"))}`;
  if (kind === "intent") return `${id} begins to run, as ${textOf(plan.get("approved_by"))} approved it`;
  return `${id}: ${textOf(plan.get("state")).replaceAll("_", " ")}`;
}

function emergencyWords(details: ReadonlyMap<string, unknown>): string {
  const [control, tool] = [textOf(details.get("control")), textOf(details.get("tool"))];
  const what = `${control}${tool === "" ? "" : ` ${tool}`} ${details.get("enabled") === true ? "on" : "off"}`;
  const lost = details.get("effective") === false ? " (refused: switched on by somebody else at the same moment)" : "";
  const by = `by ${textOf(details.get("by"))} (${textOf(details.get("via"))})`;
  return `${what}${lost}, ${by}: ${textOf(details.get("reason"))}`;
}

/** Text about work that a person tried, and kept, without a session. */
function workWithoutSession(kind: string, details: ReadonlyMap<string, unknown>, title: string): string {
  if (kind === "undo") return `undid “${title}”`;
  const reaches = listOf(details.get("reaches")).map(textOf);
  if (reaches.length > 0) return `let “${title}” reach ${reaches.join(", ")}`;
  const ended = textOf(details.get("ended"));
  if (ended !== "") return `${textOf(details.get("by"))} “${title}”: ended by ${ended}, nothing kept`;
  if (kind === "outcome") {
    const connections = listOf(details.get("connections")).map((one) => {
      const connection = fieldsOf(one);
      return `${textOf(connection.get("state"))} ${textOf(connection.get("host"))}:${String(connection.get("port"))}`;
    });
    return `“${title}” reached: ${connections.join(", ")}`;
  }
  const [kept, dropped] = [listOf(details.get("kept")).length, listOf(details.get("dropped")).length];
  return `${textOf(details.get("by"))} “${title}”: ${kept} kept${dropped === 0 ? "" : `, ${dropped} dropped`}`;
}

const reviewWords = { keep: "kept", undo: "refused", edited: "edited" } as const;

function shortId(value: unknown): string {
  const id = textOf(value);
  return id === "" ? "(purged)" : id.length > 20 ? `${id.slice(0, 18)}…` : id;
}
