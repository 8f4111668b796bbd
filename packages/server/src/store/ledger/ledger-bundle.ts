import { readFile } from "node:fs/promises";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import {
  bundleMessage,
  decodeSignature,
  encodeSignature,
  type Verifier,
} from "@gennai/governance/ledger/ledger-signature";
import { type LedgerReport, verifyLedger } from "@gennai/governance/ledger/verify-ledger";
import { type Redactor, redactionMarker } from "@gennai/governance/redaction";
import { CanonicalJsonError, canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { z } from "zod";
import { databaseFile, StoreDatabase } from "../database.ts";
import { integerOf, type Row, textOf } from "../row.ts";
import { redacted, storedLines, withheldIfSecret } from "./ledger-export.ts";
import { headSchema, ledgerHeadFile, readHead } from "./ledger-head-file.ts";
import { type LedgerSigner, ledgerPublicKeyFile, ledgerVerifier, openLedgerSigner } from "./ledger-key.ts";
import type { LedgerLocation } from "./ledger-location.ts";

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

const newerSchema = z.object({ format: z.literal("gennai-ledger-bundle"), version: z.int().min(2) });

/** Everything a third party needs to check what was done, in one JSON file. */
export type LedgerBundle = z.infer<typeof bundleSchema>;

/** Puts a bundle together and signs it. Every text in it is redacted once more, by the rules of today. */
export async function createLedgerBundle(
  location: LedgerLocation,
  options: { readonly redactor: Redactor; readonly now: () => number },
): Promise<LedgerBundle> {
  const { stateDir, workspaceRoot } = location;
  const { redactor } = options;
  const signer = await openLedgerSigner(stateDir);
  useKeyInForce(signer, stateDir);
  const records: Record<string, unknown>[] = [];
  const withheld: number[] = [];
  for (const line of storedLines(location)) {
    const exported = await withheldIfSecret(line, redactor);
    const record = recordSchema.parse(JSON.parse(exported.line));
    if (exported.withheld) withheld.push(record.metadata.seq);
    records.push(record);
  }
  const sessions = await redacted(readSessions(stateDir, workspaceRoot), redactor);
  const head = await readHead(ledgerHeadFile(stateDir, workspaceRoot));
  const content = {
    ...{ format: "gennai-ledger-bundle", version: 1, exported: new Date(options.now()).toISOString() },
    workspace: workspaceIdOf(workspaceRoot),
    public_key: await readFile(ledgerPublicKeyFile(stateDir), "utf8"),
    head: head ?? null,
    ...{ records, withheld, sessions: sessions.value },
    redactions: { marker: redactionMarker, count: markersIn(records) + markersIn(sessions.value) },
    key_id: signer.keyId,
  };
  const signature = encodeSignature(signer.sign(bundleMessage(digestOf(content))));
  return bundleSchema.parse({ ...content, signature });
}

export interface BundleReport extends Omit<LedgerReport, "status"> {
  readonly status: LedgerReport["status"] | "no_key";
  /** The key it was checked with. */
  readonly keyId: string;
  /** False: the key is the bundle's own, so it only shows that the bundle fits together. */
  readonly keyIsGiven: boolean;
}

/** Checks a bundle offline. Never throws for what is in it. @param publicKey SPKI PEM of the one who must have signed */
export async function verifyLedgerBundle(text: string, publicKey: string | undefined): Promise<BundleReport> {
  const keyIsGiven = publicKey !== undefined;
  const refuse = (status: BundleReport["status"], message: string, keyId = ""): BundleReport => ({
    ...{ status, message, keyId, keyIsGiven, records: 0, purged: 0, unsigned: 0, rollbacks: [], notes: [] },
  });
  let bundle: LedgerBundle;
  let digest: string;
  try {
    const parsed: unknown = JSON.parse(text);
    const later = newerSchema.safeParse(parsed);
    if (later.success) {
      return refuse(
        "malformed_line",
        `A newer Gennai wrote the file, as version ${later.data.version}: update Gennai.`,
      );
    }
    bundle = bundleSchema.parse(parsed);
    const { signature: _signature, ...content } = bundle;
    digest = digestOf(content);
  } catch (error) {
    if (
      !(
        error instanceof SyntaxError ||
        error instanceof z.ZodError ||
        error instanceof CanonicalJsonError ||
        error instanceof RangeError
      )
    )
      throw error;
    return refuse("malformed_line", "The file is no bundle of a ledger.");
  }
  let verifier: Verifier;
  try {
    verifier = ledgerVerifier(publicKey ?? bundle.public_key);
  } catch (error) {
    return refuse("no_key", error instanceof Error ? error.message : String(error));
  }
  const { key_id: keyId } = bundle;
  if (!verifier.knows(keyId))
    return refuse("unknown_key", `The bundle is signed with a key nobody vouches for (${keyId.slice(0, 64)}).`);
  const signature = decodeSignature(bundle.signature);
  if (signature === undefined || !(await verifier.verify(keyId, bundleMessage(digest), signature))) {
    return refuse("bad_signature", "The bundle was changed after it was signed.", keyId);
  }
  const report = await verifyLedger(
    bundle.records.map((record) => new TextEncoder().encode(`${canonicalJson(record)}\n`)),
    {
      verifier,
      workspace: bundle.workspace,
      ...(bundle.head === null ? {} : { head: bundle.head }),
      ...{ withheld: new Set(bundle.withheld), preambleLeftOut: true },
    },
  );
  return { ...report, keyId, keyIsGiven };
}

const recordSchema = z.looseObject({ metadata: z.looseObject({ seq: z.number() }) });

function useKeyInForce(signer: LedgerSigner, stateDir: string): void {
  using connection = StoreDatabase.openReadOnly(databaseFile(stateDir));
  if (connection === undefined) return;
  const hasKeys = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'ledger_keys'").get() !== undefined;
  const row = hasKeys
    ? connection.prepare("SELECT key_id FROM ledger_keys ORDER BY number DESC LIMIT 1").get()
    : undefined;
  if (row !== undefined) signer.use(textOf(row, "key_id"));
}

function markersIn(value: unknown): number {
  return JSON.stringify(value).split(redactionMarker).length - 1;
}

function readSessions(stateDir: string, workspaceRoot: string): readonly unknown[] {
  using connection = StoreDatabase.openReadOnly(databaseFile(stateDir));
  if (connection === undefined) return [];
  const events = connection.prepare("SELECT seq, turn, item, time, json FROM events WHERE session = ? ORDER BY seq");
  return connection
    .prepare(
      "SELECT s.number, s.id, s.title, s.created, s.updated FROM sessions s JOIN workspaces w ON w.number = s.workspace WHERE w.root = ? ORDER BY s.number",
    )
    .all(workspaceRoot)
    .map((row) => ({
      session_id: textOf(row, "id"),
      title: textOf(row, "title"),
      created: timeOf(row, "created"),
      updated: timeOf(row, "updated"),
      events: events.all(integerOf(row, "number")).map((event) => ({
        seq: integerOf(event, "seq"),
        turn_id: textOf(event, "turn"),
        item_id: textOf(event, "item"),
        time: timeOf(event, "time"),
        event: JSON.parse(textOf(event, "json")) as unknown,
      })),
    }));
}

function timeOf(row: Row, column: string): string {
  return new Date(integerOf(row, column)).toISOString();
}
