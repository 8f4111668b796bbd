import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportLedgerLines } from "#audit/ledger-export";
import { repairWorkspaceLedger } from "#audit/ledger-repair";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { openStore } from "#sqlite/store";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

/** As the first format of the ledger was written: one record over several lines. */
const old = `${JSON.stringify(
  {
    id: "1",
    timestamp: "2025-01-01T00:00:00Z",
    vcs: { revision_id: "abc" },
    files: [
      {
        relative_path: "src/a.ts",
        conversations: [{ ranges: [], related: [{ type: "specification", value: "INT-001" }] }],
      },
    ],
  },
  null,
  2,
)}\n`;

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  mkdirSync(dirname(fixture.mirror), { recursive: true });
  writeFileSync(fixture.mirror, old);
});
afterEach(() => fixture[Symbol.asyncDispose]());

test("an old ledger over several lines is told about once, kept, and vouched for", async () => {
  const place = { stateDir: fixture.stateDir, workspaceRoot: fixture.root };
  expect(await verifyWorkspaceLedger(place)).toMatchObject({
    status: "unsigned",
    unsigned: 1,
    notes: [{ code: "laid_out", line: 1 }],
  });
  const warnings: string[] = [];
  const open = () => openStore(fixture.stateDir, { onWarning: (text) => warnings.push(text) });
  for (const seq of [0, 1, 2]) {
    await using store = await open();
    if (seq === 0) await store.log.create({ sessionId: "s", workspaceRoot: fixture.root, time: 1 });
    const event = { turnId: "t", itemId: "", time: 1, event: { type: "text-delta", text: `${seq}` } } as const;
    await store.log.append("s", { events: [event], ledger: [entryOf(seq)], durable: true }, { seq, epoch: 1 });
    await store.flushLedgers();
  }
  expect(warnings).toEqual([expect.stringContaining("begins with a record over several lines")]);
  expect(warnings[0]).toContain("There is nothing to do.");
  expect(readFileSync(fixture.mirror, "utf8").startsWith(old)).toBe(true);
  const report = await verifyWorkspaceLedger(place);
  expect(report).toMatchObject({ status: "ok", records: 3, unsigned: 1, notes: [{ code: "laid_out", line: 1 }] });
  await repairWorkspaceLedger(place);
  expect(readFileSync(fixture.mirror, "utf8").startsWith(old)).toBe(true);
});

test("a ledger that the store does not know is exported with each old record on one line", async () => {
  const options = { format: "agent-trace", redactor: await createRedactor() } as const;
  const place = { stateDir: `${fixture.directory}/none`, workspaceRoot: fixture.root };
  const lines = await Array.fromAsync(exportLedgerLines(place, options));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([JSON.parse(old)]);
});
