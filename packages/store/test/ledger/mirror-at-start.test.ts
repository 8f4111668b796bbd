import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { acquireFileLock } from "#database/file-lock";
import { usualLedgerPath } from "#ledger/file/ledger-file-name";
import { recoveredCopies } from "#ledger/file/ledger-mirror-file";
import { ledgerHeadFile } from "#ledger/ledger-head-file";
import { entryOf } from "../sqlite/store-fixture.ts";
import { MirrorBench } from "./mirror-bench.ts";

let bench: MirrorBench;
beforeEach(async () => {
  bench = await MirrorBench.create();
});
afterEach(() => bench[Symbol.asyncDispose]());

it("is brought up to where the store is by the next process, also when that one records nothing", async () => {
  await bench.fixture.record(bench.store, 2);
  const headFile = ledgerHeadFile(bench.fixture.stateDir, bench.fixture.root);
  const [text, head] = [await bench.mirrorText(), await readFile(headFile)];
  await bench.fixture.record(bench.store, 2);
  await bench.store[Symbol.asyncDispose]();
  // As a process leaves it that dies between a commit and its mirroring.
  await writeFile(bench.fixture.mirror, text);
  await writeFile(headFile, head);
  await bench.reopen();
  await bench.store.flushLedgers();
  await bench.expectSound(4);
});

describe("trouble with one workspace at the start", () => {
  const second = () => join(bench.fixture.directory, "second");
  beforeEach(async () => {
    await bench.fixture.record(bench.store, 1);
    await mkdir(second());
    await bench.store.log.create({ sessionId: "second", workspaceRoot: second(), time: 1 });
    await bench.store.log.append("second", { events: [], ledger: [entryOf(1)], durable: true }, { seq: 0, epoch: 1 });
    await bench.store[Symbol.asyncDispose]();
  });

  it("is told, and the others are brought up all the same", async () => {
    const headFile = ledgerHeadFile(bench.fixture.stateDir, second());
    const [head, text] = [await readFile(headFile), await readFile(usualLedgerPath(second()))];
    await bench.reopen();
    await bench.store.log.append("second", { events: [], ledger: [entryOf(2)], durable: true }, { seq: 0, epoch: 1 });
    await bench.store[Symbol.asyncDispose]();
    await writeFile(headFile, head);
    await writeFile(usualLedgerPath(second()), text);
    const lock = ledgerHeadFile(bench.fixture.stateDir, bench.fixture.root).replace(/json$/, "lock");
    await rm(lock);
    await mkdir(lock);

    await bench.reopen();
    await expect
      .poll(() => bench.fixture.warnings)
      .toEqual([expect.stringContaining(`The ledger of ${bench.fixture.root} has copies`)]);
    await bench.store.flushLedgers();
    const report = await verifyWorkspaceLedger({ workspaceRoot: second(), stateDir: bench.fixture.stateDir });
    expect(report).toMatchObject({ status: "ok", records: 2 });
    await rm(lock, { recursive: true });
  });

  it("keeps no record of another from its file while somebody holds the lock", async () => {
    const lock = ledgerHeadFile(bench.fixture.stateDir, bench.fixture.root).replace(/json$/, "lock");
    using held = await acquireFileLock(lock, { timeout: 1000 });
    await bench.reopen();
    await bench.store.log.append("second", { events: [], ledger: [entryOf(2)], durable: true }, { seq: 0, epoch: 1 });
    const lines = async () => (await readFile(usualLedgerPath(second()), "utf8")).trim().split("\n");
    // Less than the 10 s for which the lock is waited for.
    await expect.poll(lines, { timeout: 8_000 }).toHaveLength(2);
    held[Symbol.dispose]();
  });
});

it("at the next start, copies go with which others begin; what only one has stays", async () => {
  await bench.fixture.record(bench.store, 1);
  const { directory, prefix } = recoveredCopies(bench.fixture.stateDir, bench.fixture.root);
  await mkdir(directory, { recursive: true });
  const line = `${"x".repeat(70_000)}\n`;
  const copies: Readonly<Record<string, string>> = {
    [`${prefix}1700000000001-00000000.jsonl`]: line,
    [`${prefix}1700000000002-00000000.jsonl`]: line.repeat(20),
    [`${prefix}1700000000003-00000000.jsonl`]: line.repeat(20),
    [`${prefix}1700000000004-00000000.jsonl`]: `${line.repeat(19)}another\n`,
    [`${prefix}1700000000005-00000000.jsonl`]: "",
    "0000000000000000-1700000000001-00000000.jsonl": "of another workspace",
    "plan.json": "",
  };
  for (const [name, text] of Object.entries(copies)) await writeFile(join(directory, name), text);
  await bench.store[Symbol.asyncDispose]();
  await bench.reopen();
  await bench.store.flushLedgers();
  expect((await readdir(directory)).sort()).toEqual(
    [
      "0000000000000000-1700000000001-00000000.jsonl",
      `${prefix}1700000000003-00000000.jsonl`,
      `${prefix}1700000000004-00000000.jsonl`,
      "plan.json",
    ].sort(),
  );
});
