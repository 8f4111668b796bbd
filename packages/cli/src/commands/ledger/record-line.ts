import { listOf, recordOf } from "@gennai/protocol/json-value";
import { actWords } from "@gennai/protocol/model/governance/act-words";
import { type ReadRecord, readRecord } from "@gennai/protocol/read-record";
import type { Paint } from "../../terminal/colours.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { utcTime } from "../../terminal/utc-time.ts";
import { inputWords, oneLine } from "./record-fields.ts";

type Details = ReadRecord["details"];

/** Longest input of a call on its line, in characters. */
const maxInput = 60;

/** A record as one line: seq, time, kind, calls with verdicts, files or decision. Old records show what they have. */
export function describeRecord(line: string, paint: Paint): string {
  const record = readRecord(line);
  if (record === undefined) return paint("red", `(no record) ${terminalSafe(line.slice(0, 100))}`);
  const { seq, kind, details } = record;
  const files = record.files.map(({ path }) => path);
  const calls = record.calls.map(({ tool, input, verdict }) =>
    // The files of a change are named behind it.
    [tool, files.length > 0 ? "" : inputWords(input, maxInput), verdict].filter((part) => part !== "").join(" "),
  );
  const intent = kind === "session" ? "" : oneLine(details["intent"]);
  const said = [
    agentOf(record),
    ...decisionOf(kind, details),
    ...calls,
    ...files,
    intent === "" ? "" : `intent ${intent}`,
  ];
  return [
    (seq === 0 ? "-" : String(seq)).padStart(5),
    utcTime(oneLine(record.timestamp)),
    paint("cyan", oneLine(kind).padEnd(8)),
    oneLine(said.filter((part) => part !== "").join(", ")),
  ].join("  ");
}

/** The name of another agent that made the call itself; empty if a session made it. */
function agentOf({ kind, details }: ReadRecord): string {
  return kind === "session" ? "" : oneLine(details["agent"]);
}

/** Content of a record about a user's decision that is neither a call nor a file. */
export function decisionOf(kind: string, details: Details): readonly string[] {
  const title = oneLine(details["title"]);
  if (title !== "") return [workWithoutSession(kind, details, title)];
  const layer = oneLine(details["layer"]);
  if (layer !== "") return [`${layer} what git ignores: ${listOf(details["paths"]).map(oneLine).join(", ")}`];
  const plan = recordOf(details["plan"]);
  if ("id" in plan) return [planWords(kind, plan)];
  if (details["interrupted"] === true) return ["the turn was interrupted"];
  switch (kind) {
    case "emergency":
      return [emergencyWords(details)];
    case "review": {
      const review = recordOf(details["review"]);
      const decisions = listOf(review["hunks"]).map((hunk) => oneLine(recordOf(hunk)["decision"]));
      const counts = (["keep", "undo", "edited"] as const).flatMap((decision) => {
        const count = decisions.filter((made) => made === decision).length;
        return count === 0 ? [] : [`${count} ${reviewWords[decision]}`];
      });
      const note = oneLine(review["note"]);
      return [
        `proposal ${shortId(review["proposalId"])}: ${counts.length === 0 ? "nothing decided" : counts.join(", ")}`,
        ...(note === "" ? [] : [`“${note}”`]),
      ];
    }
    case "applied":
      return [`proposal ${shortId(details["proposalId"])}`];
    case "undo":
      return [`change set ${shortId(details["changeSetId"])}`];
    case "key":
      return [`key ${shortId(details["from"])} handed over to ${shortId(details["to"])}`];
    case "session": {
      const act = actWords(details);
      if (act !== "") return [oneLine(act)];
      const intent = oneLine(details["intent"]);
      if (intent !== "") return [`intent ${intent}`];
      const { actor, policy, ...others } = details;
      const [{ user, tenant }, { name: policyName }] = [recordOf(actor), recordOf(policy)];
      return [
        ...(actor === undefined ? [] : [`for ${oneLine(user)}, tenant ${oneLine(tenant)}`]),
        ...(policy === undefined ? [] : [`policy ${oneLine(policyName)}`]),
        ...Object.entries(others).map(
          ([name, value]) =>
            `${terminalSafe(name)} ${typeof value === "string" ? oneLine(value) : JSON.stringify(value)}`,
        ),
      ];
    }
    default:
      return [];
  }
}

/** Text about a plan's approval, or about how its run or verification began or ended. */
function planWords(kind: string, plan: Details): string {
  const id = `plan ${shortId(plan["id"])}`;
  if (kind === "session") return `${id} approved by ${oneLine(plan["approved_by"])}`;
  if (kind === "intent") return `${id} begins to run, as ${oneLine(plan["approved_by"])} approved it`;
  return `${id}: ${oneLine(plan["state"]).replaceAll("_", " ")}`;
}

function emergencyWords(details: Details): string {
  const [control, tool] = [oneLine(details["control"]), oneLine(details["tool"])];
  const what = `${control}${tool === "" ? "" : ` ${tool}`} ${details["enabled"] === true ? "on" : "off"}`;
  const lost = details["effective"] === false ? " (refused: switched on by somebody else at the same moment)" : "";
  const by = `by ${oneLine(details["by"])} (${oneLine(details["via"])})`;
  return `${what}${lost}, ${by}: ${oneLine(details["reason"])}`;
}

/** Text about work that a person tried, and kept, without a session. */
function workWithoutSession(kind: string, details: Details, title: string): string {
  if (kind === "undo") return `undid “${title}”`;
  const reaches = listOf(details["reaches"]).map(oneLine);
  if (reaches.length > 0) return `let “${title}” reach ${reaches.join(", ")}`;
  const ended = oneLine(details["ended"]);
  if (ended !== "") return `${oneLine(details["by"])} “${title}”: ended by ${ended}, nothing kept`;
  if (kind === "outcome") {
    const connections = listOf(details["connections"]).map((one) => {
      const connection = recordOf(one);
      return `${oneLine(connection["state"])} ${oneLine(connection["host"])}:${String(connection["port"])}`;
    });
    return `“${title}” reached: ${connections.join(", ")}`;
  }
  const [kept, inPart, dropped] = ["kept", "keptInPart", "dropped"].map((name) => listOf(details[name]).length);
  const part = inPart === 0 ? "" : `, ${inPart} of them in part`;
  return `${oneLine(details["by"])} “${title}”: ${kept} kept${part}${dropped === 0 ? "" : `, ${dropped} dropped`}`;
}

const reviewWords = { keep: "kept", undo: "refused", edited: "edited" } as const;

function shortId(value: unknown): string {
  const id = oneLine(value);
  return id === "" ? "(purged)" : id.length > 20 ? `${id.slice(0, 18)}…` : id;
}
