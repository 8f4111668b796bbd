import { recordOf } from "@gennai/protocol/json-value";
import { personsOf, type ReadCall, type ReadRecord, readRecord } from "@gennai/protocol/read-record";
import { utcTime } from "../../terminal/utc-time.ts";
import { inputWords, oneLine } from "./record-fields.ts";
import { decisionOf } from "./record-line.ts";

/** What one record says of each call and each decision of a person, in plain words; `lines` are pairs of a name and a text. */
export interface Explanation {
  readonly title: string;
  readonly lines: readonly (readonly [name: string, text: string])[];
}

/** Longest input that is shown, in characters. */
const maxInput = 300;

/**
 * What happened, who agreed, and by which rule.
 *
 * @param others all records of the ledger: the request and the end of a call may be in different ones
 */
export function explainRecord(record: ReadRecord, others: readonly ReadRecord[]): Explanation {
  const { kind, details, calls, seq } = record;
  const lines: (readonly [string, string])[] = [];
  const add = (name: string, text: string): void => {
    if (text !== "") lines.push([name, oneLine(text)]);
  };
  for (const call of calls) {
    add("happened", happenedIn(kind, call, kind === "intent" ? endOf(call, record, others) : undefined));
    for (const asked of call.alsoAsked) {
      add("agreed", agreement(asked));
      add("rule", ruleWords(asked));
    }
    // Nothing more was asked about what came of it.
    if (call.alsoAsked.length === 0 || call.rule !== "" || call.confirmation !== undefined) {
      add("agreed", plannedStep(call, record, others) ?? agreement(call));
      add("rule", ruleWords(call));
    }
    add("risk", call.risk);
  }
  if (calls.length === 0) add("happened", withoutCalls(record));
  const plan = recordOf(details["plan"]);
  const approver = oneLine(plan["approved_by"]);
  if (approver !== "") {
    const channel = oneLine(plan["channel"]);
    add("agreed", `${approver} approved the plan ${oneLine(plan["id"])}${channel === "" ? "" : ` (${channel})`}`);
  }
  for (const { path, operation } of record.changes)
    add("changed", `${path}: ${operationWords[operation] ?? "changed"}`);
  const intent = oneLine(details["intent"]);
  if (kind !== "session") add("intent", intent === "" ? "" : `${intent} was selected`);
  const isolation = oneLine(details["isolation"]);
  const why = oneLine(details["isolation_reason"]);
  add("commands", isolation === "" ? "" : `run ${isolation}${why === "" ? "" : `: ${why}`}`);
  const agent = oneLine(details["agent"]);
  add(
    "agent",
    agent === "" ? "" : `${agent} made the call by itself, in its session ${oneLine(details["agent_session"])}`,
  );
  add("session", record.sessionId);
  add("turn", record.turnId);
  const number = seq === 0 ? "A record without a number" : `Record ${seq}`;
  const what = kindWords[kind] ?? (kind || "of another program");
  return { title: oneLine(`${number}, ${what}, ${utcTime(record.timestamp)}`), lines };
}

/** The records that an id means: a number, an id or the beginning of one, or the id of a call. */
export function recordsNamed(id: string, lines: readonly string[]): readonly ReadRecord[] {
  const records = lines.map(readRecord).filter((record) => record !== undefined);
  const numbered = /^\d+$/.test(id) ? records.filter(({ seq }) => seq === Number(id)) : [];
  if (numbered.length > 0) return numbered;
  const whole = records.filter((record) => record.id === id);
  if (whole.length > 0) return whole;
  const ofCall = records.filter(({ calls }) => calls.some(({ callId }) => callId === id));
  if (ofCall.length > 0) return ofCall;
  return id.length < 4 ? [] : records.filter((record) => record.id.startsWith(id));
}

/** The call's entry in the record of its end; undefined if there is no such record yet. */
function endOf({ callId }: ReadCall, { turnId }: ReadRecord, others: readonly ReadRecord[]): ReadCall | undefined {
  const ends = others.filter((other) => other.turnId === turnId && other.kind !== "intent");
  return ends.flatMap(({ calls }) => calls).find((call) => call.callId === callId);
}

function happenedIn(kind: string, call: ReadCall, end: ReadCall | undefined): string {
  const what = `${call.tool} ${inputWords(call.input, maxInput)}`.trim();
  if (kind === "refusal") return `${what} was refused; nothing ran`;
  if (kind === "intent") {
    if (end === undefined) return `${what} was about to run, and no record says how it ended`;
    return `${what} was about to run; ${endWords(end)}`;
  }
  return `${what} ran; ${endWords(call)}`;
}

function endWords({ exitCode, failureClass: failure, verification }: ReadCall): string {
  return [
    exitCode !== undefined ? `it ended with exit code ${exitCode}` : failure === "" ? "it ended" : "it failed",
    ...(failure === "" ? [] : [`the failure is ${failure}`]),
    // What failed or was refused has no result that could be right.
    ...(failure !== "" && verification === "verified" ? [] : [verificationWords[verification] ?? unverified]),
  ].join(", ");
}

const unverified = "and the result was not verified";

const verificationWords: Readonly<Record<string, string>> = {
  verified: "and the result was checked and is correct",
  unverified,
  failed: "and the result is not as expected",
};

/** For a step of a plan, for which nobody was asked separately: the plan, and who approved it. */
function plannedStep(call: ReadCall, { turnId }: ReadRecord, others: readonly ReadRecord[]): string | undefined {
  const { planStep: step } = call;
  if (step === "" || call.confirmation !== undefined) return undefined;
  const planOf = ({ details }: ReadRecord) => recordOf(details["plan"]);
  const run = others.find((each) => each.turnId === turnId && "id" in planOf(each));
  if (run === undefined) return `it is the step ${step} of a plan that a person approved`;
  const plan = planOf(run);
  // Of several approvals, the last one before the run was spent.
  const approval = others.findLast(
    (each) => each.kind === "session" && planOf(each)["id"] === plan["id"] && each.seq < run.seq,
  );
  const where = approval === undefined ? "" : `, record ${approval.seq}`;
  const who = oneLine(plan["approved_by"]) || "a person";
  return `it is the step ${step} of the plan ${oneLine(plan["id"])}, which ${who} approved${where}`;
}

function agreement({ confirmation, verdict }: Pick<ReadCall, "confirmation" | "verdict">): string {
  const { answer = "", pattern = "", scope = "", first = "", rememberedFrom: earlier = "" } = confirmation ?? {};
  const by = personsOf(confirmation) || "somebody";
  switch (answer) {
    case "yes": {
      const how = pattern === "" ? (scopeWords[scope] ?? "") : `, for everything like ${pattern}`;
      return earlier === "" ? `${by} said yes${how}` : `the yes to the call ${earlier} was still valid${how}`;
    }
    case "passed-on":
      return `${by} asked its own user; that answer is not known here`;
    case "no":
      return `nobody: ${by} said no${first === "" ? "" : `, after ${first} had agreed`}`;
    case "timeout":
      return first === ""
        ? "nobody: the question was not answered in time"
        : `${first} alone: no second person answered in time`;
    case "nobody":
      return "nobody: there was nobody to ask";
    default:
      return verdict === "deny" ? "nobody was asked" : "no question was needed: no rule asked";
  }
}

const scopeWords: Readonly<Record<string, string>> = {
  once: ", for this once",
  turn: ", for this action as long as the turn lasted",
  session: ", for this action as long as the session lasts",
  workspace: ", for the check of this workspace until it changes",
};

function ruleWords({ rule, verdict, confirmation }: Pick<ReadCall, "rule" | "verdict" | "confirmation">): string {
  if (rule === "") return "none asked or refused";
  // A question without a yes ends as a refusal, but the rule asked.
  const asked = verdict === "ask" || confirmation !== undefined;
  const did = asked ? "asked for a person's yes" : verdict === "deny" ? "refused it" : "let it run";
  return `${rule}, ${ruleOrigin(rule)}, ${did}`;
}

function ruleOrigin(rule: string): string {
  if (/^rules\/(?:project|user)\//.test(rule)) return `from the ${rule.split("/")[1]}'s rule file`;
  if (rule.startsWith("rules/managed/")) return "from the policy of those who manage this machine";
  if (rule.startsWith("hook/")) return "an external hook";
  if (rule.startsWith("intents/")) return "which limits work to the selected intent";
  if (rule.startsWith("emergency/")) return "an emergency control that a person switched on";
  if (rule.startsWith("capabilities/")) return "which the policies in force do not permit";
  if (rule.startsWith("tool/")) return "from the tool itself";
  return "which is built in";
}

function withoutCalls({ kind, changes, details }: ReadRecord): string {
  const decided = decisionOf(kind, details).join(", ");
  if (decided !== "") return decided;
  if (changes.length > 0) return "files were changed";
  return Object.keys(details).length === 0 ? "" : JSON.stringify(details);
}

const operationWords: Readonly<Record<string, string>> = {
  create: "created",
  update: "changed",
  delete: "deleted",
};

const kindWords: Readonly<Record<string, string>> = {
  intent: "written before something ran",
  outcome: "how something ended",
  refusal: "a refusal",
  review: "a person's review of a proposal",
  applied: "a proposal that was applied",
  undo: "changes that were undone",
  session: "a decision about the session",
  emergency: "an emergency control",
  purge: "content that was purged",
  key: "another signing key",
  rollback: "records that were lost",
};
