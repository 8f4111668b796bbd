import { createHash } from "node:crypto";
import { changedBlocks } from "@gennai/machine/changes/changed-blocks";
import { openStore } from "@gennai/store/sqlite/store";
import { plainEntry } from "../../../../governance/test/ledger/plain-entry.ts";

/** What stood in a file, and what a recorded call added at its end. */
export const before = [
  "import { open } from 'node:fs';",
  "",
  "export function readEverything(file) {",
  "  return open(file, 'r');",
  "}",
];
export const added = [
  "",
  "export function countWords(sentence) {",
  "  return sentence.split(' ').filter((word) => word !== '').length;",
  "}",
];
export const text = (...parts: readonly (readonly string[])[]): string =>
  parts
    .flat()
    .map((line) => `${line}\n`)
    .join("");
const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");

/** A recorded call that made `after` of the file. */
export async function recordWrite(stateDir: string, workspaceRoot: string, path: string, after: string): Promise<void> {
  await using store = await openStore(stateDir, { onWarning: () => {} });
  await store.log.create({ sessionId: "s", workspaceRoot, time: 1 });
  const old = text(before);
  await store.blobs.put(Buffer.from(old), "application/octet-stream");
  await store.blobs.put(Buffer.from(after), "application/octet-stream");
  const confirmation = { answer: "yes", by: "ada", scope: "once" };
  const call = {
    callId: "c1",
    tool: "Edit",
    input: {},
    verdict: "ask",
    rule: "rules/user/asks",
    risk: "medium",
    verification: "verified",
    confirmation,
  } as const;
  const blocks = changedBlocks(after, [{ start: before.length + 1, count: added.length }]);
  const entry = plainEntry({
    kind: "outcome",
    time: Date.parse("2026-11-20T10:00:00Z"),
    turnId: "turn",
    modelId: "house/model",
    calls: [call],
    files: [{ path, operation: "update", beforeSha256: sha256(old), afterSha256: sha256(after), blocks }],
    details: { intent: "INT-007" },
  });
  await store.log.append("s", { events: [], ledger: [entry], durable: true }, { seq: 0, epoch: 1 });
  await store.flushLedgers();
}
