import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import { isRecord, recordOf, textOf } from "@gennai/protocol/json-value";
import { partsOf } from "./record-content.ts";

export type AttributeValue = string | number | boolean | readonly string[];

/** Names the one attribute that was masked once more, so that it may differ from the ledger's. */
export const inputAttribute = "gennai.input";

/** A record as other systems get it: what proves it, and what it says without content. */
export interface ExportedRecord {
  /** `gennai.ledger.KIND`. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Of the record; the same whenever it is sent. */
  readonly id: string;
  readonly severity: "INFO" | "WARN" | "ERROR";
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

const warned: ReadonlySet<unknown> = new Set(["refusal", "emergency", "key", "purge"]);
const alarming = /^(?:secrets\/|control-files\/|floor\/credentials$|containment\/|emergency\/people-only$)/;
const verdicts = ["allow", "ask", "deny"];

/**
 * A line of the ledger for other systems. Throws `SyntaxError` for what is no record.
 * @param of.origin of its ledger, as anchors name it
 * @param of.paths whether paths of changed files go along
 * @param of.input whether what tools were called with does, as it was recorded
 */
export function exportedRecord(
  line: string,
  of: { readonly origin: string; readonly paths: boolean; readonly input?: boolean },
): ExportedRecord {
  const record: unknown = JSON.parse(line);
  if (!isRecord(record) || !isRecord(record["metadata"])) throw new SyntaxError("The line is no record of a ledger.");
  const { metadata } = record;
  const { fixed } = partsOf(record, metadata);
  const calls = listOf(metadata["calls"]);
  const strictest = calls.toSorted((a, b) => rank(b) - rank(a))[0] ?? {};
  const rule = textOf(strictest["rule"]);
  const { kind } = metadata;
  const details = recordOf(metadata["details"]);
  const policy = recordOf(details["policy"]);
  const confirmation = recordOf(strictest["confirmation"]);
  const session = textOf(metadata["session_id"]);
  const said: Readonly<Record<string, unknown>> = {
    "gennai.ledger.id": record["id"],
    "gennai.ledger.origin": of.origin,
    "gennai.ledger.seq": metadata["seq"],
    "gennai.ledger.hash": metadata["hash"],
    "gennai.ledger.previous_hash": metadata["previous_hash"],
    "gennai.ledger.fixed": canonicalJson(fixed),
    "gennai.ledger.signature": metadata["signature"],
    "gennai.ledger.key_id": metadata["key_id"],
    "gennai.ledger.purged": metadata["purged"],
    ...(calls.length === 0 ? {} : { "gen_ai.operation.name": "execute_tool", "gennai.calls": calls.length }),
    "gen_ai.tool.name": strictest["tool"],
    "gen_ai.tool.call.id": strictest["call_id"],
    "gen_ai.agent.name": details["agent"],
    "gen_ai.conversation.id": session === "" ? undefined : sha256Hex(session).slice(0, 16),
    "gennai.gate.verdict": strictest["verdict"],
    "gennai.rule": rule === "" ? undefined : rule,
    "gennai.risk": strictest["risk"],
    "gennai.answer": confirmation["answer"],
    "gennai.verification": strictest["verification"],
    "error.type": strictest["failure_class"],
    "process.exit.code": strictest["exit_code"],
    "gennai.policy.sha256": policy["sha256"],
    [inputAttribute]: of.input === true ? calls.flatMap(({ input }) => inputText(input)) : undefined,
    "gennai.paths": of.paths ? listOf(metadata["changes"]).map(({ path }) => textOf(path)) : undefined,
  };
  const isAlarming =
    kind === "rollback" || (kind === "refusal" && calls.some((call) => alarming.test(textOf(call["rule"]))));
  return {
    name: `gennai.ledger.${textOf(kind)}`,
    time: Date.parse(textOf(record["timestamp"])),
    id: textOf(record["id"]),
    severity: isAlarming ? "ERROR" : warned.has(kind) ? "WARN" : "INFO",
    attributes: Object.fromEntries(
      Object.entries(said).filter((entry): entry is [string, AttributeValue] => isValue(entry[1])),
    ),
  };
}

/** The gate records canonical JSON already. */
function inputText(input: unknown): readonly string[] {
  if (input === undefined) return [];
  return [typeof input === "string" ? input : canonicalJson(input)];
}

function rank(call: Readonly<Record<string, unknown>>): number {
  return verdicts.indexOf(textOf(call["verdict"]));
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function isValue(value: unknown): value is AttributeValue {
  if (Array.isArray(value)) return value.length > 0;
  return ["string", "number", "boolean"].includes(typeof value);
}

/** One line of `file`, `webhook` and `syslog`, without a line break. */
export function gennaiLine({ name, time, id, severity, attributes }: ExportedRecord): string {
  return JSON.stringify({ event_name: name, id, time: new Date(time).toISOString(), severity, attributes });
}

const severities = { INFO: 1, WARN: 3, ERROR: 4 } as const;

/**
 * The same as OCSF 1.9.0: an API activity, or what happened to the application itself.
 * @param from.host name of this machine
 */
export function ocsfLine(exported: ExportedRecord, from: { readonly version: string; readonly host: string }): string {
  const { name, time, id, attributes } = exported;
  const kind = name.slice("gennai.ledger.".length);
  const ofApplication = ["session", "policy", "emergency", "key", "purge"].includes(kind);
  const tool = attributes["gen_ai.tool.name"] ?? kind;
  const activity = ofApplication
    ? kind === "emergency"
      ? 7
      : 8
    : kind === "review" || kind === "applied" || kind === "undo"
      ? 3
      : 99;
  const classUid = ofApplication ? 6002 : 6003;
  const refused = kind === "refusal";
  const failed = refused || attributes["error.type"] !== undefined;
  const proof = ["origin", "seq", "hash", "previous_hash", "fixed", "signature", "key_id", "purged"];
  return JSON.stringify({
    activity_id: activity,
    ...(activity === 99 ? { activity_name: tool } : {}),
    category_uid: 6,
    class_uid: classUid,
    type_uid: classUid * 100 + activity,
    time,
    severity_id: kind === "rollback" ? 5 : severities[exported.severity],
    status_id: failed ? 2 : 1,
    metadata: {
      version: "1.9.0",
      product: { name: "Gennai", vendor_name: "Gennai", version: from.version },
      profiles: ofApplication ? [] : ["ai_operation", "security_control"],
      original_event_uid: id,
    },
    ...(ofApplication
      ? { app: { name: "gennai", vendor_name: "Gennai" } }
      : {
          api: { operation: tool, service: { name: "gennai" } },
          actor: { app_name: "gennai" },
          src_endpoint: { hostname: from.host },
          action_id: refused ? 2 : 1,
          disposition_id: refused ? 2 : 1,
          ...riskLevel(attributes["gennai.risk"]),
          ...saidAs("policy", attributes["gennai.rule"], (rule) => ({ name: rule })),
          ...saidAs("ai_agent", attributes["gen_ai.agent.name"], (agent) => ({ name: agent })),
        }),
    unmapped: {
      gennai_ledger: Object.fromEntries(
        proof.flatMap((key) => Object.entries(saidAs(key, attributes[`gennai.ledger.${key}`], (value) => value))),
      ),
    },
  });
}

/** 99 is "Other": the level in words says then what it is. */
function riskLevel(risk: AttributeValue | undefined) {
  if (risk === undefined) return {};
  const known = ["info", "low", "medium", "high"].indexOf(String(risk));
  return known === -1 ? { risk_level_id: 99, risk_level: risk } : { risk_level_id: known };
}

/** Nothing for a record that does not say it. */
function saidAs(name: string, value: AttributeValue | undefined, form: (value: AttributeValue) => unknown) {
  return value === undefined ? {} : { [name]: form(value) };
}
