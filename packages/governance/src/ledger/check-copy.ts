import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import { isRecord, parsedJson, recordOf, textOf } from "@gennai/protocol/json-value";
import { exportedRecord, inputAttribute, ocsfLine } from "./exported-record.ts";
import { decodeSignature, recordMessage, type Verifier } from "./ledger-signature.ts";

/** What another system has of a ledger, held against the ledger. */
export interface CopyReport {
  readonly status: "ok" | "contradicts_copy" | "copy_incomplete";
  /** Records of this ledger in the copy, each once. */
  readonly records: number;
  /** Copies of records that were there already. */
  readonly duplicates: number;
  /** The first contradictions, in words. */
  readonly contradictions: readonly string[];
  /** Numbers that the copy lacks, e.g. `12-40`; those of contradictions are not among them. */
  readonly missing: readonly string[];
  /** `signed`: only what the records sign was checked, not what stands beside it, e.g. verdicts: there was no ledger to compare with. */
  readonly compared: "all" | "signed";
}

const most = 20;
type Attributes = Readonly<Record<string, unknown>>;

/** A record as the other system has it. What it does not say is absent. */
interface Copied {
  readonly attributes: Attributes;
  readonly name?: unknown;
  /** Milliseconds since the epoch. */
  readonly time?: number;
  readonly severity?: unknown;
  /** The whole event; it has no attributes but what proves it. */
  readonly ocsf?: Attributes;
}

/**
 * Checks a copy that was exported: that each record is signed, as it was written, and followed by the next one; and none is missing.
 * @param lines of `file` and `webhook`, of OCSF, or of a Collector's OTLP in JSON; other lines are left out
 * @param of.stored the ledger's own line of a number; without it, the copy is checked alone
 */
export async function checkCopy(
  lines: AsyncIterable<string> | Iterable<string>,
  of: {
    /** undefined: that of the copy's first record under a key that is known. */
    readonly origin: string | undefined;
    readonly verifier: Verifier;
    /** Number of the ledger's newest record; undefined: the copy's. */
    readonly newest: number | undefined;
    readonly stored?: (seq: number) => string | undefined;
  },
): Promise<CopyReport> {
  const found = new Map<number, string>();
  const previous = new Map<number, string>();
  const contradictions: string[] = [];
  const contradicted = new Set<number>();
  let { origin } = of;
  let duplicates = 0;
  for await (const line of lines) {
    for (const copy of recordsIn(line)) {
      const part = (name: string): unknown => copy.attributes[`gennai.ledger.${name}`];
      const [seq, hash] = [Number(part("seq")), String(part("hash"))];
      if (of.verifier.knows(String(part("key_id")))) origin ??= String(part("origin"));
      if (origin === undefined || part("origin") !== origin) continue;
      const before = found.get(seq);
      if (before === hash) duplicates += 1;
      const wrong =
        before === undefined || before === hash
          ? await contradiction(copy, { seq, hash }, { ...of, origin })
          : "there is another one of this number";
      if (wrong !== undefined) {
        contradictions.push(`record ${seq}: ${wrong}`);
        contradicted.add(seq);
      } else {
        found.set(seq, hash);
        previous.set(seq, String(part("previous_hash")));
      }
    }
  }
  for (const [seq, hash] of previous) {
    const before = found.get(seq - 1);
    if (before !== undefined && before !== hash)
      contradictions.push(`record ${seq}: does not follow record ${seq - 1}`);
  }
  const missing = rangesWithout(new Set([...found.keys(), ...contradicted]), of.newest ?? Math.max(1, ...found.keys()));
  return {
    status: contradictions.length > 0 ? "contradicts_copy" : missing.length > 0 ? "copy_incomplete" : "ok",
    records: found.size,
    duplicates,
    contradictions: contradictions.slice(0, most),
    missing,
    compared: of.stored === undefined ? "signed" : "all",
  };
}

async function contradiction(
  { attributes, name, time, severity, ocsf }: Copied,
  { seq, hash }: { readonly seq: number; readonly hash: string },
  of: Pick<Parameters<typeof checkCopy>[1], "verifier" | "stored"> & { readonly origin: string },
): Promise<string | undefined> {
  const { origin, verifier, stored } = of;
  const part = (one: string): string => String(attributes[`gennai.ledger.${one}`]);
  if (sha256Hex(part("fixed")) !== hash) return "its text does not have its hash";
  const signature = decodeSignature(part("signature"));
  if (signature === undefined || !(await verifier.verify(part("key_id"), recordMessage(hash), signature)))
    return "its signature is not the ledger's";
  // What stands beside the signed text must be what the text says: else records could be left out, and the others numbered anew.
  const signed = recordOf(parsedJson(part("fixed")));
  const metadata = recordOf(signed["metadata"]);
  for (const one of ["seq", "previous_hash", "key_id"]) {
    if (!same(metadata[one], attributes[`gennai.ledger.${one}`])) return `its ${one} is not what was signed`;
  }
  if (name !== undefined && name !== `gennai.ledger.${textOf(metadata["kind"])}`)
    return "its event is not what was signed";
  if (time !== undefined && time !== Date.parse(textOf(signed["timestamp"]))) return "its time is not what was signed";
  if (stored === undefined) return undefined;
  const line = stored(seq);
  if (line === undefined) return "the ledger does not have it";
  const record = exportedRecord(line, { origin, paths: true });
  const own = record.attributes;
  if (own["gennai.ledger.hash"] !== hash) return "the ledger has another record of this number";
  if (own["gennai.ledger.purged"] === true) return undefined;
  if (ocsf !== undefined) {
    // What the copy says of the program that wrote it stands in no record.
    const version = textOf(recordOf(recordOf(ocsf["metadata"])["product"])["version"]);
    const host = textOf(recordOf(ocsf["src_endpoint"])["hostname"]);
    const isSame = canonicalJson(ocsf) === canonicalJson(JSON.parse(ocsfLine(record, { version, host })));
    return isSame ? undefined : "its event is not what the ledger has";
  }
  if (severity !== undefined && severity !== record.severity) return "its severity is not what the ledger has";
  const names = new Set([...Object.keys(own), ...Object.keys(attributes)]);
  const other = [...names].find(
    (key) =>
      key !== "gennai.ledger.purged" &&
      key !== inputAttribute &&
      // Only where paths are sent.
      !(key === "gennai.paths" && !(key in attributes)) &&
      !same(own[key], attributes[key]) &&
      /^(?:gennai|gen_ai|error|process)\./.test(key),
  );
  return other === undefined ? undefined : `${other} is not what the ledger has`;
}

/** Collectors write numbers as text. */
function same(own: unknown, copy: unknown): boolean {
  return JSON.stringify(own) === JSON.stringify(copy) || (typeof own === "number" && String(own) === copy);
}

function recordsIn(line: string): readonly Copied[] {
  const value = parsedJson(line);
  if (!isRecord(value)) return [];
  const { attributes, unmapped, event_name: name, time, severity } = value;
  if (isRecord(attributes) && "gennai.ledger.seq" in attributes)
    return [{ attributes, name, severity, ...(time === undefined ? {} : { time: Date.parse(textOf(time)) }) }];
  if (isRecord(unmapped) && isRecord(unmapped["gennai_ledger"])) {
    const proof = Object.entries(unmapped["gennai_ledger"]).map(([key, one]) => [`gennai.ledger.${key}`, one] as const);
    return [{ attributes: Object.fromEntries(proof), time: Number(time), ocsf: value }];
  }
  return each(value, "resourceLogs").flatMap((resource) =>
    each(resource, "scopeLogs").flatMap((scope) =>
      each(scope, "logRecords")
        .map(
          (log): Copied => ({
            attributes: Object.fromEntries(
              each(log, "attributes").map(({ key, value: one }) => [String(key), plain(one)]),
            ),
            name: log["eventName"],
            severity: log["severityText"],
            ...(log["timeUnixNano"] === undefined ? {} : { time: Math.round(Number(log["timeUnixNano"]) / 1e6) }),
          }),
        )
        .filter(({ attributes: said }) => "gennai.ledger.seq" in said),
    ),
  );
}

function each(value: Attributes, key: string): readonly Attributes[] {
  const list = value[key];
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** An OTLP value in JSON. */
function plain(value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  const { stringValue, intValue, boolValue, doubleValue, arrayValue } = value;
  if (isRecord(arrayValue)) return each(arrayValue, "values").map(plain);
  return stringValue ?? (intValue === undefined ? (boolValue ?? doubleValue) : Number(intValue));
}

function rangesWithout(found: ReadonlySet<number>, newest: number): readonly string[] {
  const ranges: string[] = [];
  for (let seq = 1; seq <= newest; seq += 1) {
    if (found.has(seq)) continue;
    const from = seq;
    while (seq < newest && !found.has(seq + 1)) seq += 1;
    ranges.push(from === seq ? `${from}` : `${from}-${seq}`);
  }
  return ranges;
}
