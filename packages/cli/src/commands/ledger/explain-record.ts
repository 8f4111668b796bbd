import { utcTime } from "../../terminal/utc-time.ts";
import { fieldsOf, inputWords, listOf, parseRecord, type RecordFields, textOf } from "./record-fields.ts";
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
export function explainRecord(record: RecordFields, others: readonly RecordFields[]): Explanation {
  const metadata = fieldsOf(record.get("metadata"));
  const kind = textOf(metadata.get("kind"));
  const details = fieldsOf(metadata.get("details"));
  const calls = listOf(metadata.get("calls")).map(fieldsOf);
  const lines: (readonly [string, string])[] = [];
  const add = (name: string, text: string): void => {
    if (text !== "") lines.push([name, text]);
  };
  for (const call of calls) {
    add("happened", happenedIn(kind, call, kind === "intent" ? endOf(call, record, others) : undefined));
    for (const asked of listOf(call.get("also_asked")).map(fieldsOf)) {
      add("agreed", `${agreement(asked)}: ${textOf(asked.get("rule"))}`);
    }
    add("agreed", plannedStep(call, record, others) ?? agreement(call));
    add("rule", ruleWords(call));
    add("risk", textOf(call.get("risk")));
  }
  if (calls.length === 0) add("happened", withoutCalls(kind, metadata, details));
  const plan = fieldsOf(details.get("plan"));
  const approver = textOf(plan.get("approved_by"));
  if (approver !== "") {
    const channel = textOf(plan.get("channel"));
    add("agreed", `${approver} approved the plan ${textOf(plan.get("id"))}${channel === "" ? "" : ` (${channel})`}`);
  }
  for (const change of listOf(metadata.get("changes")).map(fieldsOf)) {
    add("changed", `${textOf(change.get("path"))}: ${operationWords[textOf(change.get("operation"))] ?? "changed"}`);
  }
  const intent = textOf(details.get("intent"));
  if (kind !== "session") add("intent", intent === "" ? "" : `${intent} was selected`);
  const isolation = textOf(details.get("isolation"));
  const why = textOf(details.get("isolation_reason"));
  add("commands", isolation === "" ? "" : `run ${isolation}${why === "" ? "" : `: ${why}`}`);
  const agent = textOf(details.get("agent"));
  add(
    "agent",
    agent === "" ? "" : `${agent} made the call by itself, in its session ${textOf(details.get("agent_session"))}`,
  );
  add("session", textOf(metadata.get("session_id")));
  add("turn", textOf(metadata.get("turn_id")));
  const seq = metadata.get("seq");
  const number = typeof seq === "number" ? `Record ${seq}` : "A record without a number";
  const time = utcTime(textOf(record.get("timestamp")));
  return { title: `${number}, ${kindWords[kind] ?? (kind || "of another program")}, ${time}`, lines };
}

/** The records that an id means: a number, an id or the beginning of one, or the id of a call. */
export function recordsNamed(id: string, lines: readonly string[]): readonly RecordFields[] {
  const records = lines.map(parseRecord).filter((record) => record !== undefined);
  const metadataOf = (record: RecordFields): RecordFields => fieldsOf(record.get("metadata"));
  const numbered = /^\d+$/.test(id) ? records.filter((record) => metadataOf(record).get("seq") === Number(id)) : [];
  if (numbered.length > 0) return numbered;
  const whole = records.filter((record) => record.get("id") === id);
  if (whole.length > 0) return whole;
  const ofCall = records.filter((record) => callIds(record).includes(id));
  if (ofCall.length > 0) return ofCall;
  return id.length < 4 ? [] : records.filter((record) => textOf(record.get("id")).startsWith(id));
}

function callIds(record: RecordFields): readonly string[] {
  const metadata = fieldsOf(record.get("metadata"));
  return listOf(metadata.get("calls")).map((call) => textOf(fieldsOf(call).get("call_id")));
}

/** The call's entry in the record of its end; undefined if there is no such record yet. */
function endOf(call: RecordFields, record: RecordFields, others: readonly RecordFields[]): RecordFields | undefined {
  const turn = fieldsOf(record.get("metadata")).get("turn_id");
  for (const other of others) {
    const metadata = fieldsOf(other.get("metadata"));
    if (metadata.get("turn_id") !== turn || textOf(metadata.get("kind")) === "intent") continue;
    const end = listOf(metadata.get("calls"))
      .map(fieldsOf)
      .find((each) => each.get("call_id") === call.get("call_id"));
    if (end !== undefined) return end;
  }
  return undefined;
}

function happenedIn(kind: string, call: RecordFields, end: RecordFields | undefined): string {
  const what = `${textOf(call.get("tool"))} ${inputWords(call.get("input"), maxInput)}`.trim();
  if (kind === "refusal") return `${what} was refused; nothing ran`;
  if (kind === "intent") {
    if (end === undefined) return `${what} was about to run, and no record says how it ended`;
    return `${what} was about to run; ${endWords(end)}`;
  }
  return `${what} ran; ${endWords(call)}`;
}

function endWords(call: RecordFields): string {
  const exit = call.get("exit_code");
  const failure = textOf(call.get("failure_class"));
  const verification = textOf(call.get("verification"));
  return [
    typeof exit === "number" ? `it ended with exit code ${exit}` : failure === "" ? "it ended" : "it failed",
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
function plannedStep(call: RecordFields, record: RecordFields, others: readonly RecordFields[]): string | undefined {
  const step = textOf(call.get("plan_step"));
  if (step === "" || call.has("confirmation")) return undefined;
  const metadataOf = (each: RecordFields): RecordFields => fieldsOf(each.get("metadata"));
  const planOf = (each: RecordFields): RecordFields => fieldsOf(fieldsOf(metadataOf(each).get("details")).get("plan"));
  const turn = metadataOf(record).get("turn_id");
  const run = others.find((each) => metadataOf(each).get("turn_id") === turn && planOf(each).has("id"));
  if (run === undefined) return `it is the step ${step} of a plan that a person approved`;
  const plan = planOf(run);
  // Of several approvals, the last one before the run was spent.
  const approval = others.findLast(
    (each) =>
      textOf(metadataOf(each).get("kind")) === "session" &&
      planOf(each).get("id") === plan.get("id") &&
      Number(metadataOf(each).get("seq")) < Number(metadataOf(run).get("seq")),
  );
  const where = approval === undefined ? "" : `, record ${String(metadataOf(approval).get("seq"))}`;
  const who = textOf(plan.get("approved_by")) || "a person";
  return `it is the step ${step} of the plan ${textOf(plan.get("id"))}, which ${who} approved${where}`;
}

function agreement(call: RecordFields): string {
  const confirmation = fieldsOf(call.get("confirmation"));
  const answer = textOf(confirmation.get("answer"));
  const by = textOf(confirmation.get("by")) || "somebody";
  const pattern = textOf(confirmation.get("pattern"));
  const scope = textOf(confirmation.get("scope"));
  switch (answer) {
    case "yes": {
      const earlier = textOf(confirmation.get("remembered_from"));
      const how = pattern === "" ? (scopeWords[scope] ?? "") : `, for everything like ${pattern}`;
      return earlier === "" ? `${by} said yes${how}` : `the yes to the call ${earlier} was still valid${how}`;
    }
    case "passed-on":
      return `${by} asked its own user; that answer is not known here`;
    case "no":
      return `nobody: ${by} said no`;
    case "timeout":
      return "nobody: the question was not answered in time";
    case "nobody":
      return "nobody: there was nobody to ask";
    default:
      return textOf(call.get("verdict")) === "deny" ? "nobody was asked" : "no question was needed: no rule asked";
  }
}

const scopeWords: Readonly<Record<string, string>> = {
  once: ", for this once",
  turn: ", for this action as long as the turn lasted",
  session: ", for this action as long as the session lasts",
  workspace: ", for the check of this workspace until it changes",
};

function ruleWords(call: RecordFields): string {
  const rule = textOf(call.get("rule"));
  if (rule === "") return "none asked or refused";
  // A question without a yes ends as a refusal, but the rule asked.
  const asked = textOf(call.get("verdict")) === "ask" || call.has("confirmation");
  const did = asked ? "asked for a person's yes" : textOf(call.get("verdict")) === "deny" ? "refused it" : "let it run";
  return `${rule}, ${ruleOrigin(rule)}, ${did}`;
}

function ruleOrigin(rule: string): string {
  if (/^rules\/(?:project|user)\//.test(rule)) return `from the ${rule.split("/")[1]}'s rule file`;
  if (rule.startsWith("hook/")) return "an external hook";
  if (rule.startsWith("intents/")) return "which limits work to the selected intent";
  if (rule.startsWith("emergency/")) return "an emergency control that a person switched on";
  if (rule.startsWith("capabilities/")) return "which the policies in force do not permit";
  if (rule.startsWith("tool/")) return "from the tool itself";
  return "which is built in";
}

function withoutCalls(kind: string, metadata: RecordFields, details: RecordFields): string {
  const decided = decisionOf(kind, details).join(", ");
  if (decided !== "") return decided;
  if (listOf(metadata.get("changes")).length > 0) return "files were changed";
  return details.size === 0 ? "" : textOf(JSON.stringify(Object.fromEntries(details)));
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
