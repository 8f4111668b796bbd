import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { sealRecord, workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { verifyLedger } from "@gennai/governance/ledger/verify-ledger";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { bundleParts } from "@gennai/store/audit/bundle-parts";
import { exportLedgerBundle } from "@gennai/store/audit/export-bundle";
import { verifyLedgerBundle } from "@gennai/store/audit/ledger-bundle";
import { rotateLedgerKey } from "@gennai/store/audit/ledger-key-rotation";
import { verifyWorkspaceLedger, type WorkspaceLedgerReport } from "@gennai/store/audit/ledger-verify";
import { ledgerHeadFile } from "@gennai/store/ledger/keys/ledger-head-file";
import { withoutRoot } from "@gennai/testkit/without-root";
import { chain, entry, keyPair, salt, workspaceRoot } from "../../../packages/governance/test/ledger/ledger-fixture.ts";
import { entryOf, StoreFixture } from "../../../packages/store/test/sqlite/store-fixture.ts";
import { type Checks, check, notApplicable } from "../corpus-case.ts";
import { sharedFixture } from "../shared-fixtures.ts";
import { callTool } from "../tool-call.ts";

type Work = (fixture: StoreFixture) => Promise<unknown>;

function verified(fixture: StoreFixture): Promise<WorkspaceLedgerReport> {
  return verifyWorkspaceLedger({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });
}

/** A ledger of five records, spoilt: `verify` says what is wrong. */
const detects = (status: RegExp, spoil: Work, position = false) =>
  check(async () => {
    await using fixture = await StoreFixture.create();
    await fixture.recordAndClose(5);
    await spoil(fixture);
    const report = await verified(fixture);
    assert.match(report.status, status, report.message);
    if (position) assert.ok(report.problem !== undefined && report.problem.seq > 0 && report.problem.offset >= 0);
  });

/** What happened to the ledger, or between, leaves one that is sound after the next record. */
const survives = (work: Work) =>
  check(async () => {
    await using fixture = await StoreFixture.create();
    await fixture.recordAndClose(3);
    await work(fixture);
    await fixture.recordAndClose(1);
    const report = await verified(fixture);
    assert.equal(report.status, "ok", report.message);
    assert.equal(report.records, 4);
  });

async function editLines(
  fixture: StoreFixture,
  change: (lines: readonly string[]) => readonly string[],
): Promise<void> {
  const lines = (await readFile(fixture.mirror, "utf8")).split("\n").slice(0, -1);
  await writeFile(
    fixture.mirror,
    change(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

const inLines = (status: RegExp, change: (lines: readonly string[]) => readonly string[]) =>
  detects(status, (fixture) => editLines(fixture, change), true);

/** A record with such an entry can be kept, and verified. */
async function keeps(more: Partial<LedgerEntry>): Promise<string> {
  await using fixture = await StoreFixture.create();
  {
    await using store = await fixture.open();
    await store.log.append(
      "s",
      { events: [], ledger: [{ ...entryOf(1), ...more }], durable: true },
      { seq: 0, epoch: 1 },
    );
  }
  assert.equal((await verified(fixture)).status, "ok");
  return await readFile(fixture.mirror, "utf8");
}

const { signer, verifier } = keyPair("key-1");
const records = chain(3, signer);

/** Checks lines without a store, as a third party would. */
async function statusOf(lines: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  return (await verifyLedger([bytes], { verifier, workspace: workspaceIdOf(workspaceRoot) })).status;
}

const lines = records.map(({ line }) => line);

export const ledgerChecks: Checks = {
  "LED-001": detects(
    /broken_chain|bad_signature|malformed_line/,
    async (fixture) => {
      const bytes = await readFile(fixture.mirror);
      const at = Math.floor(bytes.length / 2);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(fixture.mirror, bytes);
    },
    true,
  ),
  "LED-002": check(async () => {
    const forged = chain(3, keyPair("key-1").signer).map(({ line }) => line);
    assert.equal(await statusOf(forged), "bad_signature");
  }),
  "LED-004": inLines(/broken_chain/, (all) => all.toSpliced(2, 1)),
  "LED-007": detects(/behind_store/, async (fixture) => {
    const headFile = ledgerHeadFile(fixture.stateDir, fixture.root);
    const [file, head] = [await readFile(fixture.mirror), await readFile(headFile)];
    await fixture.recordAndClose(1);
    await writeFile(fixture.mirror, file);
    await writeFile(headFile, head);
  }),
  "LED-008": detects(/missing_file/, ({ mirror }) => rm(mirror)),
  "LED-009": check(async () => {
    const other = chain(3, signer, { root: "/elsewhere" }).map(({ line }) => line);
    assert.equal(await statusOf(other), "broken_chain");
  }),
  "LED-011": inLines(/broken_chain/, (all) => [...all.slice(0, 2), ...all.slice(1)]),
  "LED-012": check(async () => {
    const stranger = sealRecord(entry(), { seq: 4, previousHash: records[2]?.hash ?? "" }, keyPair("key-2").signer, {
      salt,
    });
    assert.equal(await statusOf([...lines, stranger.line]), "unknown_key");
  }),
  "LED-014": check(async () => {
    await using fixture = await StoreFixture.create();
    await fixture.recordAndClose(3);
    const oldKey = join(fixture.directory, "old.pub");
    await copyFile(join(fixture.stateDir, "keys", "ledger.ed25519.pub"), oldKey);
    const { from, to } = await rotateLedgerKey({ stateDir: fixture.stateDir, now: Date.now });
    await fixture.recordAndClose(2);
    const report = await verified(fixture);
    assert.deepEqual([report.status, report.records], ["ok", 6], report.message);
    const byOldKey = await verifyWorkspaceLedger({ workspaceRoot: fixture.root, publicKeyFile: oldKey });
    assert.deepEqual([byOldKey.status, byOldKey.records], ["ok", 6], byOldKey.message);
    const keys = [...(await readFile(fixture.mirror, "utf8")).matchAll(/"metadata":.*?"key_id":"(\w+)","kind"/g)];
    assert.deepEqual(
      keys.map(([, key]) => key).filter((key) => key !== from && key !== to),
      [],
    );
  }),
  "LED-018": inLines(/malformed_line/, (all) => [...all.slice(0, 2), "\u0000garbage", ...all.slice(2)]),
  "LED-019": survives(async ({ mirror }) => truncate(mirror, (await stat(mirror)).size - 1)),
  "LED-022": inLines(/malformed_line/, (all) =>
    all.map((line, index) => (index === 2 ? line.replace('{"files"', '{"files":[],"files"') : line)),
  ),
  "LED-023": check(async () => {
    const [call] = entryOf(1).calls;
    assert.ok(call);
    const text = await keeps({ calls: [{ ...call, input: { command: "x".repeat(10 << 20) } }] }).catch(() => "");
    assert.ok(text.length < 4 << 20, `a record of ${text.length} characters was kept whole`);
  }),
  "LED-025": check(async () => {
    const [call] = entryOf(1).calls;
    assert.ok(call);
    const text = await keeps({ calls: [{ ...call, input: { command: "ls \u001b[2K\u202e" } }] });
    assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f]/);
  }),
  "LED-026": check(async () => {
    await using fixture = await StoreFixture.create();
    await using one = await fixture.open();
    await using two = await fixture.open();
    await Promise.all([one, two, one, two].map((store) => fixture.record(store, 3)));
    await Promise.all([one.flushLedgers(), two.flushLedgers()]);
    const report = await verified(fixture);
    assert.deepEqual([report.status, report.records], ["ok", 12], report.message);
  }),
  "LED-027": check(async () => {
    await using fixture = await StoreFixture.create();
    await fixture.recordAndClose(1);
    const program = `
      import { openStore } from ${JSON.stringify(import.meta.resolve("@gennai/store/sqlite/store"))};
      await openStore(${JSON.stringify(fixture.stateDir)}, { onWarning() {} });
      process.kill(process.pid, "SIGKILL");
    `;
    assert.equal(spawnSync(process.execPath, ["--input-type=module", "-e", program]).signal, "SIGKILL");
    await fixture.recordAndClose(1);
    assert.equal((await verified(fixture)).records, 2);
  }),
  "LED-028": notApplicable(
    "There is no network file system here; the authority lies in the state directory, not in the workspace.",
  ),
  "LED-029": notApplicable(
    "A full disk is one of the faults of the crash tests; a record that cannot be kept stops the call.",
  ),
  "LED-031": check(async () => {
    await using fixture = await StoreFixture.create();
    {
      await using store = await fixture.open();
      await fixture.record(store, 1);
      await chmod(join(fixture.root, ".orchestration"), 0o500);
      await chmod(fixture.mirror, 0o400);
      await withoutRoot(fixture.directory, () => fixture.record(store, 1));
      await chmod(join(fixture.root, ".orchestration"), 0o700);
      await chmod(fixture.mirror, 0o600);
      await fixture.record(store, 1);
    }
    const report = await verified(fixture);
    assert.deepEqual([report.status, report.records], ["ok", 3], report.message);
  }),
  "LED-032": check(async () => {
    for (const replace of [
      async ({ mirror, directory }: StoreFixture) => symlink(join(directory, "elsewhere"), mirror),
      async ({ mirror }: StoreFixture) => mkdir(mirror),
      async ({ mirror }: StoreFixture) => assert.equal(spawnSync("mkfifo", [mirror]).status, 0),
    ]) {
      await using fixture = await StoreFixture.create();
      await fixture.recordAndClose(1);
      await rm(fixture.mirror);
      await replace(fixture);
      assert.equal((await verified(fixture)).status, "unsafe_path");
    }
  }),
  "LED-033": check(async () => {
    await using fixture = await StoreFixture.create();
    await using store = await fixture.open();
    await fixture.record(store, 2);
    await rename(fixture.mirror, `${fixture.mirror}.old`);
    await writeFile(fixture.mirror, "forged\n");
    await fixture.record(store, 1);
    assert.notDeepEqual(fixture.warnings, []);
    const report = await verified(fixture);
    assert.deepEqual([report.status, report.records], ["ok", 3], report.message);
  }),
  "LED-034": survives(({ mirror }) => rename(mirror, `${mirror}.1`)),
  "LED-036": check(async () => {
    for (const time of [0, Date.UTC(2106, 1, 7)]) await keeps({ time });
  }),
  "LED-038": check(async () => {
    await using fixture = await StoreFixture.create();
    await fixture.recordAndClose(2);
    const before = await readFile(fixture.mirror, "utf8");
    const redactor = await createRedactor({ secrets: ["run_command"] });
    const place = { workspaceRoot: fixture.root, stateDir: fixture.stateDir };
    const bundle = (
      await Array.fromAsync(exportLedgerBundle(place, { redactor, now: Date.now, parts: new Set(bundleParts) }))
    ).join("");
    assert.equal(bundle.includes('"run_command"'), false);
    assert.equal(await readFile(fixture.mirror, "utf8"), before);
    assert.equal((await verified(fixture)).status, "ok");
  }),
  "LED-039": notApplicable("Held by the tests of purging, which verify the ledger after every purge."),
  "LED-040": check(async () => {
    await using fixture = await StoreFixture.create();
    await fixture.recordAndClose(3);
    const place = { workspaceRoot: fixture.root, stateDir: fixture.stateDir };
    const options = { redactor: await createRedactor(), now: Date.now, parts: new Set(bundleParts) };
    const bundle = (await Array.fromAsync(exportLedgerBundle(place, options))).join("");
    const statusOfBundle = async (text: string) => (await verifyLedgerBundle(() => [Buffer.from(text)], key)).status;
    const key = await readFile(join(fixture.stateDir, "keys", "ledger.ed25519.pub"), "utf8");
    assert.equal(await statusOfBundle(bundle), "ok");
    assert.notEqual(await statusOfBundle(bundle.replace("npm test", "npm tost")), "ok");
  }),
  "LED-042": check(async () => {
    for (const bad of [`"${"x".repeat(5_000_000)}"`, `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`])
      assert.match(await statusOf([...lines.slice(0, 1), bad, ...lines.slice(1)]), /malformed_line|bad_signature/);
  }),
  "LED-044": check(async () => {
    await using fixture = await StoreFixture.create();
    assert.equal((await verified(fixture)).status, "missing_file");
    await fixture.recordAndClose(0);
    assert.equal((await verified(fixture)).status, "ok");
    await fixture.recordAndClose(1);
    await truncate(fixture.mirror, 0);
    assert.equal((await verified(fixture)).status, "truncated_tail");
  }),
  "LED-045": notApplicable("Held by the crash tests, which end a server between the two records."),
  "LED-049": survives((fixture) => appendFile(fixture.mirror, '{"files":[{"pa')),
  "LED-050": check(async () => {
    const fixture = await sharedFixture("apart");
    const ledger = ".orchestration/agent_trace.jsonl";
    for (const command of [
      `echo x >> ${ledger}`,
      `python3 -c "open('${ledger}','a').write('x')"`,
      `vim -c ':wq' ${ledger}`,
      `git checkout -- ${ledger}`,
      `mv ${ledger} x`,
      "mount --bind /tmp .orchestration",
      `sed -i 1d ${ledger}`,
      `cp /dev/null ${ledger}`,
      `truncate -s 0 ${ledger}`,
      "rm -rf .orchestration",
      "cd .orchestration && echo x > agent_trace.jsonl",
    ])
      assert.equal((await fixture.decide(command)).verdict, "deny", command);
    assert.notEqual((await callTool("Write", { file_path: ledger, content: "x" })).code, "ok");
  }),
  "LED-052": inLines(/malformed_line/, (all) => ["<<<<<<< HEAD", ...all, "=======", ">>>>>>> other"]),
};
