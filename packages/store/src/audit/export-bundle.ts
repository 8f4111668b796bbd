import { readFile } from "node:fs/promises";
import { BundleDigest, closingLine, elementLines, openingLine } from "@gennai/governance/ledger/bundle-layout";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { bundleMessage, encodeSignature } from "@gennai/governance/ledger/ledger-signature";
import { withoutContent } from "@gennai/governance/ledger/record-content";
import { type Redactor, redactionMarker } from "@gennai/governance/redaction";
import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import * as z from "zod";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { integerOf, type Row, textOf } from "../database/row.ts";
import type { LedgerLocation } from "../ledger/file/ledger-file-name.ts";
import { ledgerHeadFile, readHead } from "../ledger/ledger-head-file.ts";
import { ledgerPublicKeyFile, openLedgerSigner, useKeyInForce } from "../ledger/ledger-key.ts";
import type { BundlePart } from "./bundle-parts.ts";
import { nodeSha256 } from "./ledger-bundle.ts";
import { redacted, withheldIfSecret } from "./ledger-export.ts";

export interface BundleOptions {
  readonly redactor: Redactor;
  readonly now: () => number;
  /** A record whose content is not chosen is exported without content, like a purged one: its chain is still valid. */
  readonly parts: ReadonlySet<BundlePart>;
}

/**
 * A signed bundle, line by line (`bundle-layout.ts`), of the store as it is when the first line is read. Every text is redacted
 * once more, by the present rules. Only one record or event is in memory at a time. Rejects with `StoreError`.
 */
export async function* exportLedgerBundle(
  location: LedgerLocation,
  options: BundleOptions,
): AsyncGenerator<string, void, undefined> {
  const { stateDir, workspaceRoot } = location;
  const { parts } = options;
  const signer = await openLedgerSigner(stateDir);
  using connection = StoreDatabase.openReadOnly(databaseFile(stateDir));
  // One view of the store for the whole export. The head lags behind the store, so it is read first.
  const head = await readHead(ledgerHeadFile(stateDir, workspaceRoot));
  connection?.exec("BEGIN");
  if (connection !== undefined) useKeyInForce(signer, connection);
  const digest = new BundleDigest(nodeSha256());
  const broken = (line: string): string => `${digest.take(line)}\n`;

  const first = {
    exported: new Date(options.now()).toISOString(),
    format: "gennai-ledger-bundle",
    head: head ?? null,
    key_id: signer.keyId,
    public_key: await readFile(ledgerPublicKeyFile(stateDir), "utf8"),
  };
  yield broken(openingLine(first, "records"));
  const withheld: number[] = [];
  let masks = 0;
  const records = exportedRecords(connection, workspaceRoot, options, (seq) => withheld.push(seq));
  for await (const line of elementLines(records)) {
    masks += masksIn(line);
    yield broken(line);
  }
  // The number of sessions precedes them, so they are read twice.
  const sessions = () => (parts.has("prompts") ? sessionLines(connection, workspaceRoot, options.redactor) : []);
  for await (const line of sessions()) masks += masksIn(line);
  yield broken(closingLine({ redactions: { count: masks, marker: redactionMarker } }, "sessions"));
  for await (const line of sessions()) yield broken(line);

  const last = { version: 1, withheld, workspace: workspaceIdOf(workspaceRoot) };
  digest.take(closingLine(last));
  const signature = encodeSignature(signer.sign(bundleMessage(digest.hex())));
  yield `${closingLine({ signature, ...last })}\n`;
}

async function* exportedRecords(
  connection: SqliteConnection | undefined,
  workspaceRoot: string,
  { redactor, parts }: BundleOptions,
  onWithheld: (seq: number) => void,
): AsyncGenerator<string, void, undefined> {
  const rows = connection
    ?.prepare("SELECT seq, line FROM ledger JOIN workspaces ON number = workspace WHERE root = ? ORDER BY seq")
    .iterate(workspaceRoot);
  for (const row of rows ?? []) {
    const line = textOf(row, "line");
    // Only a tombstone makes the gaps of a purge valid.
    const exported =
      parts.has("records") || isTombstone(line)
        ? await withheldIfSecret(line, redactor)
        : { line: withoutContent(line), withheld: true };
    if (exported.withheld) onWithheld(integerOf(row, "seq"));
    yield exported.line;
  }
}

async function* sessionLines(
  connection: SqliteConnection | undefined,
  workspaceRoot: string,
  redactor: Redactor,
): AsyncGenerator<string, void, undefined> {
  if (connection === undefined) return;
  const events = connection.prepare("SELECT seq, turn, item, time, json FROM events WHERE session = ? ORDER BY seq");
  const sessions = connection
    .prepare(
      "SELECT s.number, s.id, s.title, s.created, s.updated FROM sessions s JOIN workspaces w ON w.number = s.workspace WHERE w.root = ? ORDER BY s.number",
    )
    .all(workspaceRoot);
  const masked = async (value: unknown): Promise<string> => canonicalJson((await redacted(value, redactor)).value);
  async function* eventsOf(session: number): AsyncGenerator<string, void, undefined> {
    for (const row of events.iterate(session)) yield await masked(eventOf(row));
  }
  for (const [index, row] of sessions.entries()) {
    yield openingLine({ created: timeOf(row, "created") }, "events");
    yield* elementLines(eventsOf(integerOf(row, "number")));
    const end = closingLine({
      session_id: textOf(row, "id"),
      title: await redactor.redact(textOf(row, "title")),
      updated: timeOf(row, "updated"),
    });
    yield index === sessions.length - 1 ? end : `${end},`;
  }
}

function isTombstone(line: string): boolean {
  return tombstoneSchema.safeParse(JSON.parse(line)).success;
}

const tombstoneSchema = z.object({ metadata: z.object({ kind: z.literal("purge") }) });

function eventOf(row: Row): object {
  return {
    seq: integerOf(row, "seq"),
    turn_id: textOf(row, "turn"),
    item_id: textOf(row, "item"),
    time: timeOf(row, "time"),
    event: JSON.parse(textOf(row, "json")) as unknown,
  };
}

function masksIn(line: string): number {
  return line.split(redactionMarker).length - 1;
}

function timeOf(row: Row, column: string): string {
  return new Date(integerOf(row, column)).toISOString();
}
