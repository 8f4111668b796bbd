import { copyFile, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bundleParts } from "#audit/bundle-parts";
import { exportLedgerBundle } from "#audit/export-bundle";
import { verifyLedgerBundle } from "#audit/ledger-bundle";
import { rotateLedgerKey } from "#audit/ledger-key-rotation";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { purgeMemory } from "#purge/purge-memory";
import { StoreFixture } from "../sqlite/store-fixture.ts";

let fixture: StoreFixture;
let key: string;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  key = join(fixture.stateDir, "keys", "ledger.ed25519");
});
afterEach(() => fixture[Symbol.asyncDispose]());

const rotate = () => rotateLedgerKey({ stateDir: fixture.stateDir, now: Date.now });
const verified = () => verifyWorkspaceLedger({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });
const asThirdParty = (publicKeyFile: string) => verifyWorkspaceLedger({ workspaceRoot: fixture.root, publicKeyFile });

async function expectRecords(records: number): Promise<void> {
  expect(await verified()).toMatchObject({ status: "ok", records, compared: { head: true, store: true } });
}

test("old records verify with the old key, new ones with the new, and the old private key is gone", async () => {
  await fixture.recordAndClose(2);
  const old = await readFile(key, "utf8");
  await copyFile(`${key}.pub`, join(fixture.directory, "old.pub"));
  const first = await rotate();
  expect(first).toMatchObject({ workspaceRoots: [fixture.root], warnings: [] });
  await fixture.recordAndClose(2);
  const second = await rotate();
  expect(second.from).toBe(first.to);
  await fixture.recordAndClose(1);
  await expectRecords(7);
  expect(await readFile(key, "utf8")).not.toBe(old);
  expect((await readdir(join(fixture.stateDir, "keys"))).sort()).toEqual([
    ...["ledger.ed25519", "ledger.ed25519.pub", "rotation.lock", "store.mark"],
  ]);
  // Anyone who has the first public key alone follows both hand-overs.
  expect(await asThirdParty(join(fixture.directory, "old.pub"))).toMatchObject({ status: "ok", records: 7 });
});

test("servers that run meanwhile sign with the new key from the next record on", async () => {
  await using one = await fixture.open();
  await using two = await fixture.open();
  await fixture.record(one, 1);
  await fixture.record(two, 1);
  await Promise.all([rotate(), fixture.record(one, 3), fixture.record(two, 3)]);
  await Promise.all([rotate(), rotate()]);
  await fixture.record(two, 1);
  await fixture.record(one, 1);
  await expectRecords(13);
});

test("a crash before the hand-over leaves the old key in force", async () => {
  await fixture.recordAndClose(1);
  // The new key was made, and its public one told; nothing was signed by it.
  await copyFile(key, join(fixture.directory, "kept"));
  await rotate();
  const made = await readFile(key);
  await fixture[Symbol.asyncDispose]();
  fixture = await StoreFixture.create();
  key = join(fixture.stateDir, "keys", "ledger.ed25519");
  await fixture.recordAndClose(1);
  await writeFile(`${key}.next`, made, { mode: 0o600 });
  await fixture.recordAndClose(1);
  await expectRecords(2);
  await rotate();
  await fixture.recordAndClose(1);
  await expectRecords(4);
});

test("a crash after the hand-over leaves the new key in force, though it is not in its place yet", async () => {
  await fixture.recordAndClose(1);
  await copyFile(key, `${key}.old`);
  await rotate();
  await rename(key, `${key}.next`);
  await rename(`${key}.old`, key);
  await fixture.recordAndClose(1);
  await expectRecords(3);
  const place = { workspaceRoot: fixture.root, stateDir: fixture.stateDir };
  const options = { redactor: await createRedactor(), now: Date.now, parts: new Set(bundleParts) };
  const bundle = (await Array.fromAsync(exportLedgerBundle(place, options))).map((line) => Buffer.from(line));
  expect(await verifyLedgerBundle(() => bundle, await readFile(`${key}.pub`, "utf8"))).toMatchObject({ status: "ok" });
  await rotate();
  await fixture.recordAndClose(1);
  await expectRecords(5);
});

test("a purge takes the content of a hand-over and leaves the hand-over", async () => {
  await fixture.recordAndClose(1);
  await rotate();
  await fixture.recordAndClose(1);
  await purgeMemory({ stateDir: fixture.stateDir, workspaceRoot: fixture.root });
  expect((await verified()).status).toBe("ok");
  expect(await readFile(fixture.mirror, "utf8")).toContain('"hand_over"');
});

test("with an attacker's public key in place of one's own, the ledger is nobody's", async () => {
  await fixture.recordAndClose(1);
  await using other = await StoreFixture.create();
  await other.recordAndClose(1);
  await rotate();
  await copyFile(join(other.stateDir, "keys", "ledger.ed25519.pub"), `${key}.pub`);
  expect((await verified()).status).toBe("unknown_key");
});
