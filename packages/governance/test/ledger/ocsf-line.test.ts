import { isRecord, recordOf } from "@gennai/protocol/json-value";
import { expect, test } from "vitest";
import { ocsfLine } from "#ledger/exported-record";

// What https://github.com/ocsf/ocsf-schema says at a5cfc68e (1.9.0-dev) about what our lines use: which attributes a class or object
// requires, which others we send, the values of its enumerations, and of which attributes one has to be there.
interface Schema {
  readonly required: string;
  readonly others?: string;
  readonly enums?: Readonly<Record<string, readonly number[]>>;
  readonly oneOf?: string;
  readonly objects?: Readonly<Record<string, Schema>>;
}
const event = "activity_id category_uid class_uid metadata severity_id time type_uid";
const metadata: Schema = {
  required: "product version",
  others: "profiles original_event_uid",
  objects: { product: { required: "", others: "name vendor_name version", oneOf: "name uid" } },
};
const severity_id = [0, 1, 2, 3, 4, 5, 6, 99];
const status_id = [0, 1, 2, 99];
const classes: Readonly<Record<number, Schema>> = {
  6002: {
    required: `${event} app`,
    others: "status_id unmapped",
    enums: { activity_id: [0, 1, 2, 3, 4, 5, 6, 7, 8, 99], severity_id, status_id, category_uid: [6] },
    objects: { metadata, app: { required: "", others: "name vendor_name", oneOf: "name uid" } },
  },
  6003: {
    required: `${event} actor api src_endpoint`,
    others: "activity_name status_id unmapped action_id disposition_id risk_level_id risk_level policy ai_agent",
    enums: {
      activity_id: [0, 1, 2, 3, 4, 99],
      severity_id,
      status_id,
      category_uid: [6],
      risk_level_id: [0, 1, 2, 3, 4, 99],
      action_id: [0, 1, 2, 3, 4, 99],
      disposition_id: [...Array.from({ length: 28 }).keys(), 99],
    },
    objects: {
      metadata,
      api: {
        required: "operation",
        others: "service",
        objects: { service: { required: "", others: "name", oneOf: "name uid" } },
      },
      actor: { required: "", others: "app_name", oneOf: "process user iam_role invoked_by session app_name app_uid" },
      src_endpoint: { required: "", others: "hostname", oneOf: "ip uid name hostname svc_name domain" },
      policy: { required: "", others: "name", oneOf: "name type uid" },
      ai_agent: { required: "", others: "name", oneOf: "name uid" },
    },
  },
};

function deviations(value: Readonly<Record<string, unknown>>, schema: Schema, at: string): readonly string[] {
  const { required, others = "", enums = {}, oneOf, objects = {} } = schema;
  const known = new Set(`${required} ${others}`.split(" "));
  return [
    ...required.split(" ").flatMap((name) => (name === "" || name in value ? [] : [`${at} lacks ${name}`])),
    ...Object.keys(value).flatMap((name) => (known.has(name) ? [] : [`${at} has ${name}`])),
    ...Object.entries(enums).flatMap(([name, values]) =>
      value[name] === undefined || values.includes(Number(value[name]))
        ? []
        : [`${at}.${name}: ${JSON.stringify(value[name])}`],
    ),
    ...(oneOf === undefined || oneOf.split(" ").some((name) => name in value) ? [] : [`${at} names none of ${oneOf}`]),
    ...Object.entries(objects).flatMap(([name, inner]) =>
      value[name] === undefined ? [] : deviations(recordOf(value[name]), inner, `${at}.${name}`),
    ),
  ];
}

const said = { "gen_ai.tool.name": "Bash", "gennai.rule": "floor/credentials", "gennai.risk": "high" };
const kinds = "intent outcome refusal review applied undo rollback session emergency key purge".split(" ");

test.each(kinds.flatMap((kind) => [[kind, {}] as const, [kind, { ...said, "gen_ai.agent.name": "codex" }] as const]))(
  "%s with %j is an event of its class",
  (kind, attributes) => {
    const record = { name: `gennai.ledger.${kind}`, time: 1, id: "x", severity: "ERROR", attributes } as const;
    const line: unknown = JSON.parse(ocsfLine(record, { version: "1.0.0", host: "dev-1" }));
    if (!isRecord(line)) throw new TypeError("no object");
    const { class_uid: id, activity_id, type_uid } = line;
    expect(type_uid).toBe(Number(id) * 100 + Number(activity_id));
    expect(deviations(line, classes[Number(id)] ?? { required: "a class that is known" }, kind)).toEqual([]);
  },
);

test.each([
  ["outcome", {}, { status_id: 1, severity_id: 1 }],
  ["outcome", { "error.type": "timeout" }, { status_id: 2, severity_id: 1 }],
  ["refusal", said, { status_id: 2, action_id: 2, disposition_id: 2, risk_level_id: 3 }],
  ["outcome", { ...said, "gennai.risk": "critical+" }, { risk_level_id: 99, risk_level: "critical+" }],
  ["rollback", {}, { severity_id: 5 }],
])("%s %j says %j", (kind, attributes, wanted) => {
  const record = { name: `gennai.ledger.${kind}`, time: 1, id: "x", severity: "INFO", attributes } as const;
  expect(JSON.parse(ocsfLine(record, { version: "1.0.0", host: "dev-1" }))).toMatchObject(wanted);
});
