import { bundleMessage, decodeSignature, type Verifier } from "@gennai/governance/ledger/ledger-signature";
import { type LedgerReport, verifyLedger } from "@gennai/governance/ledger/verify-ledger";
import { hasCode } from "@gennai/machine/system-error";
import { CanonicalJsonError, canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { repeatedKey } from "@gennai/protocol/plan/strict-json";
import * as z from "zod";
import { BundleDigest, bundleLines } from "../ledger/bundle-layout.ts";
import { headSchema } from "../ledger/ledger-head-file.ts";
import { ledgerVerifier } from "../ledger/ledger-key.ts";

const eventSchema = z.strictObject({
  seq: z.number(),
  turn_id: z.string(),
  item_id: z.string(),
  time: z.string(),
  event: z.record(z.string(), z.unknown()),
});

const bundleSchema = z.strictObject({
  format: z.literal("gennai-ledger-bundle"),
  version: z.literal(1),
  /** RFC 3339. */
  exported: z.string(),
  /** SHA-256 of the workspace's root path. */
  workspace: z.string(),
  /** SPKI PEM. */
  public_key: z.string(),
  head: headSchema.nullable(),
  /** The ledger, one signed record each. */
  records: z.array(z.record(z.string(), z.unknown())),
  /** Records that are here without their content, because a secret was found in it. */
  withheld: z.array(z.number()),
  sessions: z.array(
    z.strictObject({
      session_id: z.string(),
      title: z.string(),
      created: z.string(),
      updated: z.string(),
      events: z.array(eventSchema),
    }),
  ),
  /** How many masks stand in it, those of earlier included. */
  redactions: z.strictObject({ marker: z.string(), count: z.number() }),
  key_id: z.string(),
  /** Ed25519, base64, over all of the above. */
  signature: z.string(),
});

/** The parts of it, as they come line by line. */
const framedSchemas = {
  head: bundleSchema.pick({ exported: true, format: true, head: true, key_id: true, public_key: true }),
  record: bundleSchema.shape.records.element,
  redactions: bundleSchema.shape.redactions,
  created: bundleSchema.shape.sessions.element.pick({ created: true }),
  session: bundleSchema.shape.sessions.element.omit({ created: true, events: true }),
  event: eventSchema,
  tail: bundleSchema.pick({ version: true, withheld: true, workspace: true }),
};

const newerSchema = z.object({ format: z.literal("gennai-ledger-bundle"), version: z.int().min(2) });

/** Everything a third party needs to check what was done, in one JSON file. */
export type LedgerBundle = z.infer<typeof bundleSchema>;

export interface BundleReport extends Omit<LedgerReport, "status"> {
  readonly status: LedgerReport["status"] | "no_key";
  /** The key it was checked with. */
  readonly keyId: string;
  /** False: the key is the bundle's own, so it only shows that the bundle fits together. */
  readonly keyIsGiven: boolean;
}

/** The bytes of a bundle, from the start each time it is asked. */
export type BundleSource = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Checks a bundle offline. Never throws for what is in it. One that is laid out as we write it is checked line by line, any other
 * is read whole. @param publicKey SPKI PEM of the one who must have signed
 */
export async function verifyLedgerBundle(source: BundleSource, publicKey: string | undefined): Promise<BundleReport> {
  const bundle = (await framedBundle(source)) ?? (await wholeBundle(source));
  const keyIsGiven = publicKey !== undefined;
  const refuse = (status: BundleReport["status"], message: string, keyId = ""): BundleReport => ({
    status,
    message,
    keyId,
    keyIsGiven,
    records: 0,
    purged: 0,
    unsigned: 0,
    rollbacks: [],
    notes: [],
  });
  if (typeof bundle === "string") return refuse("malformed_line", bundle);
  let verifier: Verifier;
  try {
    verifier = ledgerVerifier(publicKey ?? bundle.public_key);
  } catch (error) {
    return refuse("no_key", error instanceof Error ? error.message : String(error));
  }
  const { key_id: keyId, digest, head, workspace, withheld } = bundle;
  if (!verifier.knows(keyId))
    return refuse("unknown_key", `The bundle is signed with a key nobody vouches for (${keyId.slice(0, 64)}).`);
  const signature = decodeSignature(bundle.signature);
  if (signature === undefined || !(await verifier.verify(keyId, bundleMessage(digest), signature))) {
    return refuse("bad_signature", "The bundle was changed after it was signed.", keyId);
  }
  const report = await verifyLedger(bundle.records(), {
    verifier,
    workspace,
    withheld: new Set(withheld),
    preambleLeftOut: true,
    ...(head === null ? {} : { head }),
  });
  return { ...report, notes: [...bundle.notes, ...report.notes], keyId, keyIsGiven };
}

/** The records of a bundle as lines of a ledger, for one that was checked. Nothing for a file that is no bundle. */
export async function bundleRecords(source: BundleSource): Promise<readonly string[]> {
  const bundle = (await framedBundle(source)) ?? (await wholeBundle(source));
  if (typeof bundle === "string") return [];
  const lines: string[] = [];
  for await (const bytes of bundle.records()) lines.push(new TextDecoder().decode(bytes).replace(/\n$/, ""));
  return lines;
}

/** What is known of a bundle before its records are looked at. */
type OpenedBundle = Pick<LedgerBundle, "key_id" | "public_key" | "head" | "workspace" | "withheld" | "signature"> & {
  /** Of what is signed. */
  readonly digest: string;
  readonly records: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** What an editor, or a copy between systems, did to the file. */
  readonly notes: LedgerReport["notes"];
};

/** undefined for a file that is not laid out as we write it. */
async function framedBundle(source: BundleSource): Promise<OpenedBundle | undefined> {
  const { created, event, record, head, redactions, tail, session } = framedSchemas;
  const digest = new BundleDigest();
  let first: z.infer<typeof head> | undefined;
  let opened: OpenedBundle | undefined;
  try {
    for await (const found of bundleLines(source())) {
      if (found === undefined) return undefined;
      const { text, part } = found;
      if (part.type === "tail") {
        const { version: _version, ...last } = tail.parse(part.members);
        digest.take(part.signed);
        if (first === undefined) return undefined;
        const records = () => recordsOf(source);
        opened = { ...first, ...last, signature: part.signature, digest: digest.hex(), records, notes: [] };
        continue;
      }
      digest.take(text);
      if (part.type === "head") first = head.parse(part.members);
      else if (part.type === "redactions") redactions.parse(part.members);
      else if (part.type === "record") record.parse(JSON.parse(part.json));
      else if (part.type === "event") event.parse(JSON.parse(part.json));
      else if (part.type === "session-start") created.parse(JSON.parse(part.json));
      else session.parse(JSON.parse(part.json));
    }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    return undefined;
  }
  return opened;
}

async function* recordsOf(source: BundleSource): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const found of bundleLines(source())) {
    if (found?.part.type === "redactions") return;
    if (found?.part.type === "record") yield new TextEncoder().encode(`${found.part.json}\n`);
  }
}

function notesOf(text: string): LedgerReport["notes"] {
  const at = text.indexOf("\r");
  const line = text.slice(0, Math.max(0, at)).split("\n").length;
  return [
    ...(text.startsWith("\ufeff") ? [{ code: "byte_order_mark", seq: 0, line: 1, offset: 0 } as const] : []),
    ...(at < 0 ? [] : [{ code: "carriage_return", seq: 0, line, offset: at } as const]),
  ];
}

/** A message where it is none. */
async function wholeBundle(source: BundleSource): Promise<OpenedBundle | string> {
  try {
    const text = Buffer.concat(await Array.fromAsync(source())).toString();
    const parsed: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    // JSON.parse keeps the last of two, another reader the first.
    const twice = repeatedKey(text.replace(/^\ufeff/, ""));
    if (twice !== undefined) return `The file holds a key twice: ${twice}. It is not as it was exported.`;
    const later = newerSchema.safeParse(parsed);
    if (later.success) return `A newer Gennai wrote the file, as version ${later.data.version}: update Gennai.`;
    const bundle = bundleSchema.parse(parsed);
    const { signature: _signature, ...content } = bundle;
    const lines = bundle.records.map((record) => new TextEncoder().encode(`${canonicalJson(record)}\n`));
    return { ...bundle, digest: digestOf(content), records: () => lines, notes: notesOf(text) };
  } catch (error) {
    const isItsFault =
      error instanceof SyntaxError ||
      error instanceof z.ZodError ||
      error instanceof CanonicalJsonError ||
      error instanceof RangeError ||
      // Longer than a text can be.
      hasCode(error, "ERR_STRING_TOO_LONG");
    if (!isItsFault) throw error;
    return "The file is no bundle of a ledger.";
  }
}
