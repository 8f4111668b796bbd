import { appendFile, copyFile, cp, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repairWorkspaceLedger } from "#audit/ledger-repair";
import { verifyWorkspaceLedger, type WorkspaceLedgerStatus } from "#audit/ledger-verify";
import { ledgerHeadFile } from "#ledger/ledger-head-file";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

let fixture: StoreFixture;
let location: { workspaceRoot: string; stateDir: string };
let publicKeyFile: string;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  location = { workspaceRoot: fixture.root, stateDir: fixture.stateDir };
  publicKeyFile = join(fixture.stateDir, "keys", "ledger.ed25519.pub");
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function edit(change: (lines: string[]) => string[] | string): Promise<void> {
  const lines = (await readFile(fixture.mirror, "utf8")).split("\n").slice(0, -1);
  const changed = change(lines);
  await writeFile(fixture.mirror, typeof changed === "string" ? changed : changed.map((line) => `${line}\n`).join(""));
}

/** What is done to a ledger of five records, what the owner is told, and what a third party with the public key is told. */
const cases: readonly [string, () => Promise<void>, WorkspaceLedgerStatus, WorkspaceLedgerStatus][] = [
  ["nothing", async () => {}, "ok", "ok"],
  [
    "a changed record",
    () => edit((lines) => lines.map((line) => line.replace("turn-3", "turn-9"))),
    "broken_chain",
    "broken_chain",
  ],
  ["a removed record", () => edit((lines) => lines.toSpliced(2, 1)), "broken_chain", "broken_chain"],
  ["swapped records", () => edit(([a = "", b = "", ...rest]) => [b, a, ...rest]), "broken_chain", "broken_chain"],
  ["a repeated record", () => edit((lines) => [...lines, lines.at(-1) ?? ""]), "broken_chain", "broken_chain"],
  ["a cut tail", () => edit((lines) => lines.slice(0, 3)), "truncated_tail", "ok"],
  ["a cut tail and an older head", rollBack, "behind_store", "ok"],
  ["a torn last line", () => appendFile(fixture.mirror, '{"files":[{"pa'), "torn_last_line", "torn_last_line"],
  ["a removed file", () => rm(fixture.mirror), "missing_file", "missing_file"],
  ["an emptied file", () => truncate(fixture.mirror, 0), "truncated_tail", "ok"],
  [
    "a directory in its place",
    async () => {
      await rm(fixture.mirror);
      await mkdir(fixture.mirror);
    },
    "unsafe_path",
    "unsafe_path",
  ],
  ["the ledger of another state directory", replaceByStranger, "unknown_key", "unknown_key"],
  ["the ledger of another workspace", replaceByNeighbour, "broken_chain", "ok"],
  ["glued lines", () => edit((lines) => [lines.join("")]), "malformed_line", "malformed_line"],
  ["a byte order mark", () => edit((lines) => [`\ufeff${lines[0]}`, ...lines.slice(1)]), "ok", "ok"],
  ["line ends of Windows", () => edit((lines) => lines.map((line) => `${line}\r`)), "ok", "ok"],
  [
    "no signatures",
    () => edit((lines) => lines.map((line) => JSON.stringify({ ...JSON.parse(line), tool: {}, metadata: {} }))),
    "truncated_tail",
    "unsigned",
  ],
  ["a spoilt head", () => writeFile(headFile(), "{}"), "rolled_back", "ok"],
  ["a record the store does not have", forgetNewest, "rolled_back", "ok"],
];

it.each(cases)("tells %s", async (_name, spoil, owner, thirdParty) => {
  await fixture.recordAndClose(5);
  await spoil();
  const report = await verifyWorkspaceLedger(location);
  expect(report).toMatchObject({ status: owner, file: fixture.mirror, compared: { head: true, store: true } });
  expect(report.message).toMatch(/\.$/);
  const outside = await verifyWorkspaceLedger({ workspaceRoot: fixture.root, publicKeyFile });
  expect(outside).toMatchObject({ status: thirdParty, compared: { head: false, store: false } });
});

it("knows a new ledger from a missing one", async () => {
  expect(await verifyWorkspaceLedger(location)).toMatchObject({ status: "missing_file" });
  await fixture.recordAndClose(0);
  expect(await verifyWorkspaceLedger(location)).toMatchObject({
    status: "ok",
    message: "Nothing has been recorded yet.",
  });
});

it("changes nothing", async () => {
  await fixture.recordAndClose(2);
  const before = await readFile(fixture.mirror);
  await verifyWorkspaceLedger(location);
  expect((await readFile(fixture.mirror)).equals(before)).toBe(true);
});

describe("repair", () => {
  it("leaves a sound ledger alone", async () => {
    await fixture.recordAndClose(2);
    expect(await repairWorkspaceLedger(location)).toMatchObject({ action: "nothing", report: { status: "ok" } });
  });

  it.each(
    cases.filter(([name]) =>
      ["a changed record", "a removed file", "a cut tail", "glued lines", "no signatures"].includes(name),
    ),
  )("writes the file anew from the store: %s", async (_name, spoil) => {
    await fixture.recordAndClose(5);
    const whole = await readFile(fixture.mirror, "utf8");
    await spoil();
    const spoilt = await readFile(fixture.mirror, "utf8").catch(() => "");
    const repair = await repairWorkspaceLedger(location);
    expect(repair).toMatchObject({ action: "rebuilt_from_store", report: { status: "ok", records: 5 } });
    expect(await readFile(fixture.mirror, "utf8")).toBe(whole);
    expect(await readFile(repair.backup ?? "", "utf8")).toBe(spoilt);
  });

  it("cuts a torn last line when there is no store, and nothing else", async () => {
    await fixture.recordAndClose(3);
    const whole = await readFile(fixture.mirror, "utf8");
    await copyFile(publicKeyFile, join(fixture.directory, "key.pub"));
    await rm(fixture.stateDir, { recursive: true });
    const place = { ...location, publicKeyFile: join(fixture.directory, "key.pub") };

    await appendFile(fixture.mirror, '{"files":[');
    const repair = await repairWorkspaceLedger(place);
    expect(repair).toMatchObject({ action: "cut_torn_line", report: { status: "ok", records: 3 } });
    expect(await readFile(fixture.mirror, "utf8")).toBe(whole);
    expect(await readFile(repair.backup ?? "", "utf8")).toBe(`${whole}{"files":[`);

    await edit((lines) => lines.toSpliced(1, 1));
    await expect(repairWorkspaceLedger(place)).rejects.toMatchObject({ code: "not_repairable" });
  });
});

function headFile(): string {
  return ledgerHeadFile(fixture.stateDir, fixture.root);
}

async function rollBack(): Promise<void> {
  const file = await readFile(fixture.mirror);
  const head = await readFile(headFile());
  await fixture.recordAndClose(1);
  await writeFile(fixture.mirror, file);
  await writeFile(headFile(), head);
}

async function replaceByStranger(): Promise<void> {
  const state = join(fixture.directory, "kept");
  await cp(fixture.stateDir, state, { recursive: true });
  await rm(fixture.stateDir, { recursive: true });
  await rm(fixture.mirror);
  await fixture.recordAndClose(6);
  await rm(fixture.stateDir, { recursive: true });
  await cp(state, fixture.stateDir, { recursive: true });
}

async function replaceByNeighbour(): Promise<void> {
  const root = join(fixture.directory, "neighbour");
  await mkdir(root);
  {
    await using store = await fixture.open();
    await store.log.create({ sessionId: "n", workspaceRoot: root, time: 1 });
    await store.log.append(
      "n",
      { events: [], ledger: [1, 2, 3, 4, 5, 6].map(entryOf), durable: true },
      { seq: 0, epoch: 1 },
    );
  }
  await copyFile(join(root, ".orchestration", "agent_trace.jsonl"), fixture.mirror);
}

async function forgetNewest(): Promise<void> {
  using database = new SqliteConnection(join(fixture.stateDir, "gennai.db"), { timeout: 0 });
  database.exec("DELETE FROM ledger WHERE seq = 5");
}
