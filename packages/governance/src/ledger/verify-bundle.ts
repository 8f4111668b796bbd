import { CanonicalJsonError, canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf, type RunningSha256 } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import { repeatedKey } from "@gennai/protocol/strict-json";
import * as z from "zod";
import { BundleDigest, bundleLines } from "./bundle-layout.ts";
import { bundleSchema, framedSchemas, type LedgerBundle, newerSchema } from "./bundle-schema.ts";
import { bundleMessage, decodeSignature, type Verifier } from "./ledger-signature.ts";
import { type LedgerReport, verifyLedger } from "./verify-ledger.ts";

export interface BundleReport extends Omit<LedgerReport, "status"> {
  readonly status: LedgerReport["status"] | "no_key";
  /** The key it was checked with. */
  readonly keyId: string;
  /** The bundle's own public key, SPKI PEM; empty where none could be read. */
  readonly publicKey: string;
  /** False: the key is the bundle's own, so it only shows that the bundle fits together. */
  readonly keyIsGiven: boolean;
}

/** The bytes of a bundle, from the start each time it is asked. */
export type BundleSource = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** What the environment provides for verifying a bundle. */
export interface BundleTools {
  /** Knows the Ed25519 keys of a text of SPKI PEM blocks; throws an `Error` that says what is wrong with it. */
  readonly verifierOf: (pem: string) => Verifier;
  /** Bytes up to which a bundle that is not laid out as we write it is read, whole. */
  readonly mostWhole?: number;
  /** A faster implementation than ours, if there is one. */
  readonly sha256?: () => RunningSha256;
}

/**
 * Verifies a bundle offline. Never throws because of its content. A bundle in our own layout is verified line by line, any
 * other is read as a whole. @param publicKey SPKI PEM of the required signer
 */
export async function verifyBundle(
  source: BundleSource,
  publicKey: string | undefined,
  tools: BundleTools,
): Promise<BundleReport> {
  const bundle = (await framedBundle(source, tools)) ?? (await wholeBundle(source, tools));
  const keyIsGiven = publicKey !== undefined;
  const refuse = (status: BundleReport["status"], message: string, keyId = ""): BundleReport => ({
    status,
    message,
    keyId,
    publicKey: typeof bundle === "string" ? "" : bundle.public_key,
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
    verifier = tools.verifierOf(publicKey ?? bundle.public_key);
  } catch (error) {
    return refuse("no_key", errorMessage(error));
  }
  const { key_id: keyId, digest, head, workspace, withheld } = bundle;
  if (!verifier.knows(keyId))
    return refuse("unknown_key", `The bundle is signed with an unknown key (${keyId.slice(0, 64)}).`);
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
  return { ...report, notes: [...bundle.notes, ...report.notes], keyId, publicKey: bundle.public_key, keyIsGiven };
}

/** The records of a verified bundle as lines of a ledger, in order. Nothing if the file is no bundle. */
export async function* bundleRecords(
  source: BundleSource,
  tools: Pick<BundleTools, "mostWhole" | "sha256"> = {},
): AsyncGenerator<string, void, undefined> {
  const bundle = (await framedBundle(source, tools)) ?? (await wholeBundle(source, tools));
  if (typeof bundle === "string") return;
  const decoder = new TextDecoder();
  for await (const bytes of bundle.records()) yield decoder.decode(bytes).replace(/\n$/, "");
}

/** What is known of a bundle before its records are read. */
type OpenedBundle = Pick<LedgerBundle, "key_id" | "public_key" | "head" | "workspace" | "withheld" | "signature"> & {
  /** Digest of the signed text. */
  readonly digest: string;
  readonly records: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Changes by an editor, or by copying between systems. */
  readonly notes: LedgerReport["notes"];
};

/** undefined for a file that is not laid out as we write it. */
async function framedBundle(
  source: BundleSource,
  { sha256 }: Pick<BundleTools, "sha256">,
): Promise<OpenedBundle | undefined> {
  const { created, event, record, head, redactions, tail, session } = framedSchemas;
  const digest = new BundleDigest(sha256?.());
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

/** A message if it is not one. */
async function wholeBundle(
  source: BundleSource,
  { mostWhole = Number.POSITIVE_INFINITY }: Pick<BundleTools, "mostWhole">,
): Promise<OpenedBundle | string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  try {
    let text = "";
    let size = 0;
    for await (const chunk of source()) {
      size += chunk.length;
      if (size > mostWhole) return "The file is not laid out as it was exported, and too large to be read whole.";
      text += decoder.decode(chunk, { stream: true });
    }
    text += decoder.decode();
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
      // Longer than a text can be.
      error instanceof RangeError;
    if (!isItsFault) throw error;
    return "The file is not a bundle of a ledger.";
  }
}
