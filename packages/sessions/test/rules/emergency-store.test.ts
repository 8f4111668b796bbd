import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { databaseFile } from "@gennai/store/database/database";
import { usualLedgerPath } from "@gennai/store/ledger/file/ledger-file-name";
import { openStore } from "@gennai/store/sqlite/store";
import { expect, test } from "vitest";
import type { EmergencyChange, EmergencyRequest } from "#rules/emergency-change";
import { EmergencyStore } from "#rules/emergency-store";

/** A state directory and a workspace. */
class Place implements AsyncDisposable {
  readonly directory: string;
  readonly stateDir: string;
  readonly root: string;
  now = 1_000_000;

  static async create(): Promise<Place> {
    const place = new Place(await realpath(await mkdtemp(join(tmpdir(), "gennai-emergency-"))));
    await mkdir(place.root);
    return place;
  }

  private constructor(directory: string) {
    this.directory = directory;
    this.stateDir = join(directory, "state");
    this.root = join(directory, "workspace");
  }

  open(): Promise<EmergencyStore> {
    return EmergencyStore.open(this.stateDir, { onWarning: () => undefined, now: () => this.now });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}

const readOnlyOn: EmergencyRequest = {
  control: "read-only",
  enabled: true,
  tool: "",
  by: "ann",
  reason: "why not",
  via: "cli",
};
const readOnlyOff: EmergencyRequest = { ...readOnlyOn, enabled: false };

test("nothing is switched off in the beginning, and the state outlives its process", async () => {
  await using place = await Place.create();
  {
    await using store = await place.open();
    expect(store.current()).toEqual(noEmergency);
    store.change(readOnlyOn, []);
    store.change({ ...readOnlyOn, control: "block-tool", tool: " Bash " }, []);
  }
  await using again = await place.open();
  expect(again.current()).toEqual({ ...noEmergency, readOnly: true, blockedTools: ["bash"] });
});

test("seed 003 §13 auditable: emergency controls must be auditable: who, why and when stand in the signed ledger", async () => {
  await using place = await Place.create();
  {
    await using store = await place.open();
    store.change(readOnlyOn, [place.root]);
    place.now += 5_000;
    store.change(readOnlyOff, [place.root]);
    // Another process's change, told twice: one record.
    const [first] = store.history(2);
    if (first !== undefined) store.record(first, [place.root, place.root]);
  }
  const lines = (await readFile(usualLedgerPath(place.root), "utf8")).trim().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { timestamp: string; metadata: object });
  expect(records).toMatchObject([
    {
      timestamp: new Date(1_000_000).toISOString(),
      metadata: {
        kind: "emergency",
        details: { control: "read-only", enabled: true, by: "ann", reason: "why not", via: "cli" },
      },
    },
    { metadata: { kind: "emergency", details: { enabled: false, state: { readOnly: false } } } },
  ]);
  expect(await verifyWorkspaceLedger({ workspaceRoot: place.root, stateDir: place.stateDir })).toMatchObject({
    status: "ok",
  });
});

test("another process's change counts at the next look and is told within 200 ms", async () => {
  await using place = await Place.create();
  await using watching = await place.open();
  const told = Promise.withResolvers<{ changes: readonly EmergencyChange[]; at: number }>();
  using _subscription = watching.onChange((changes) => told.resolve({ changes, at: performance.now() }));
  const program = `
    import { EmergencyStore } from ${JSON.stringify(import.meta.resolve("#rules/emergency-store"))};
    await using store = await EmergencyStore.open(${JSON.stringify(place.stateDir)}, { onWarning() {}, now: Date.now });
    store.change(${JSON.stringify(readOnlyOn)}, []);
    console.log("done");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  const done = performance.now();
  expect(watching.current().readOnly).toBe(true);
  const { changes, at } = await told.promise;
  expect(at - done).toBeLessThan(200);
  expect(changes).toMatchObject([{ control: "read-only", enabled: true, by: "ann" }]);
  await exited;
});

test("two clients at once: both are recorded, and the stricter one counts", async () => {
  await using place = await Place.create();
  await using one = await place.open();
  await using two = await place.open();
  one.change(readOnlyOn, []);
  const lost = two.change({ ...readOnlyOff, by: "bob" }, []);
  expect(lost).toMatchObject({ effective: false, state: { readOnly: true } });
  expect(one.current().readOnly).toBe(true);
  expect(one.history(10)).toMatchObject([{ by: "ann" }, { by: "bob", effective: false }]);
  // The same person, or somebody who came later, may.
  place.now += 2_000;
  expect(two.change({ ...readOnlyOff, by: "bob" }, [])).toMatchObject({ effective: true });
  one.change(readOnlyOn, []);
  expect(one.change(readOnlyOff, [])).toMatchObject({ effective: true });
});

test("different controls do not undo each other", async () => {
  await using place = await Place.create();
  await using one = await place.open();
  await using two = await place.open();
  one.change(readOnlyOn, []);
  two.change({ ...readOnlyOn, control: "stop-all" }, []);
  one.change({ ...readOnlyOn, control: "block-tool", tool: "deploy" }, []);
  expect(two.current()).toEqual({ ...noEmergency, readOnly: true, stopAll: true, blockedTools: ["deploy"] });
});

test.each<readonly [string, (place: Place) => void | Promise<void>]>([
  ["its file was removed", (place) => rm(databaseFile(place.stateDir))],
  [
    "its record was emptied",
    (place) => {
      using database = new SqliteConnection(databaseFile(place.stateDir), { timeout: 0 });
      database.exec("DELETE FROM emergency_changes");
    },
  ],
  [
    "its record was damaged",
    (place) => {
      using database = new SqliteConnection(databaseFile(place.stateDir), { timeout: 0 });
      database.exec("INSERT INTO emergency_changes VALUES (99, 0, '{\"state\":{}}')");
    },
  ],
])("what cannot be read leaves reading only: %s", async (_name, damage) => {
  await using place = await Place.create();
  await using store = await place.open();
  store.change({ ...readOnlyOn, control: "block-tool", tool: "deploy" }, []);
  const told = Promise.withResolvers<void>();
  using _subscription = store.onChange(() => told.resolve());
  await damage(place);
  expect(store.current()).toMatchObject({
    readOnly: true,
    blockedTools: ["deploy"],
    problem: expect.stringContaining("cannot be read"),
  });
  // What runs hears of it, too.
  await told.promise;
});

test("after it was closed it permits nothing", async () => {
  await using place = await Place.create();
  const store = await place.open();
  await store[Symbol.asyncDispose]();
  expect(store.current()).toMatchObject({ readOnly: true, problem: expect.any(String) });
});

test.each([
  ["block-tool without a tool", { ...readOnlyOn, control: "block-tool" as const }],
  ["lifting without a reason", { ...readOnlyOff, reason: " " }],
])("refused: %s", async (_name, request) => {
  await using place = await Place.create();
  await using store = await place.open();
  expect(() => store.change(request, [])).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  expect(store.history(10)).toEqual([]);
});

test("a glance costs microseconds", async () => {
  await using place = await Place.create();
  await using _main = await openStore(place.stateDir, { onWarning: () => undefined });
  await using store = await place.open();
  store.change(readOnlyOn, []);
  const begin = process.cpuUsage();
  for (let round = 0; round < 2_000; round++) store.current();
  expect(process.cpuUsage(begin).user / 1000 / 2_000).toBeLessThan(0.5);
});
