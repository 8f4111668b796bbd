import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutRoot } from "@gennai/testkit/without-root";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type CheckpointRecord, CheckpointRecords } from "#checkpoints/checkpoint-records";

const before: CheckpointRecord["before"] = {
  tree: "0".repeat(40),
  plain: 0o644,
  executable: 0o755,
  modes: {},
  left: [],
  patterns: "",
};
const recordOf = (checkpointId: string, time: number): CheckpointRecord => ({
  version: 1,
  checkpointId,
  sessionId: "s",
  time,
  before,
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "gennai-records-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const onDisk = (path: string): number => readdirSync(path).filter((name) => name.endsWith(".json")).length;

/** What one process after another, or two side by side, do with the records of a workspace. */
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("add" as const), time: fc.nat(20), by: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("replace" as const), which: fc.nat(30), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("remove" as const), which: fc.nat(30), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restart" as const), by: fc.nat(1) }) },
);

test("after each addition exactly the newest are kept, as many as may be", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(operation, { maxLength: 40 }), (limit, operations) => {
      const path = mkdtempSync(join(tmpdir(), "gennai-records-"));
      try {
        const processes = [0, 1].map(() => new CheckpointRecords(path, { limit }));
        // What must be there: those that were added last, whatever the clock said.
        let model: CheckpointRecord[] = [];
        let count = 0;
        for (const step of operations) {
          const records = processes[step.by] ?? new CheckpointRecords(path, { limit });
          const known = "which" in step ? `c-${String(step.which).padStart(3, "0")}` : "";
          if (step.type === "restart") processes[step.by] = new CheckpointRecords(path, { limit });
          if (step.type === "replace") {
            const isKept = model.some(({ checkpointId }) => checkpointId === known);
            const time = model.find(({ checkpointId }) => checkpointId === known)?.time ?? 0;
            expect(records.replace({ ...recordOf(known, time), after: before })).toBe(isKept);
          }
          if (step.type === "remove") {
            records.remove((all) => all.filter(({ checkpointId }) => checkpointId === known));
            model = model.filter(({ checkpointId }) => checkpointId !== known);
          }
          if (step.type === "add") {
            const added = recordOf(`c-${String(count++).padStart(3, "0")}`, step.time);
            records.add(added);
            model = [...model, added].slice(-limit);
          }
          expect(onDisk(path)).toBe(model.length);
          const ids = (all: readonly CheckpointRecord[]) => all.map(({ checkpointId }) => checkpointId);
          expect(ids(records.all())).toEqual(ids(model));
        }
      } finally {
        rmSync(path, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
});

test("those of an earlier version, which gave no order, are older than all that have one", () => {
  const path = directory();
  for (const time of [7, 5, 6])
    writeFileSync(join(path, `c-${time}.json`), JSON.stringify(recordOf(`c-${time}`, time)));
  const records = new CheckpointRecords(path, { limit: 3 });
  records.add(recordOf("c-new", 1));
  expect(records.replace({ ...recordOf("c-6", 6), after: before })).toBe(true);
  expect(records.all().map(({ checkpointId }) => checkpointId)).toEqual(["c-6", "c-7", "c-new"]);
});

test("what a killed addition left behind goes with whatever is done next", () => {
  const path = directory();
  const records = new CheckpointRecords(path);
  records.add(recordOf("c-0", 0));
  const draft = join(path, "c-1.json.new");
  for (const next of [() => records.add(recordOf("c-2", 2)), () => records.remove(() => []), () => records.look()]) {
    writeFileSync(draft, '{"version":1,"checkp');
    next();
    expect(existsSync(draft)).toBe(false);
  }
  expect(onDisk(path)).toBe(2);
});

test("a full disk has its name, and nothing goes", () => {
  const path = directory();
  const records = new CheckpointRecords(path, { limit: 2 });
  for (const index of [0, 1]) records.add(recordOf(`c-${index}`, index));
  symlinkSync("/dev/full", join(path, "leftover"));
  const full = expect.objectContaining({ name: "CheckpointError", code: "disk_full" });
  expect(() => records.add(recordOf("c-2", 2))).toThrow(full);
  expect(() => records.remove((all) => all)).toThrow(full);
  rmSync(join(path, "leftover"));
  expect(records.all().map(({ checkpointId }) => checkpointId)).toEqual(["c-0", "c-1"]);
});

test.each<[string, string, number]>([
  ["the directory", "", 0o500],
  ["a record", "c-1.json", 0o000],
])("%s that may not be touched has its name, and counts for no damaged one", async (_name, file, mode) => {
  const path = directory();
  const records = new CheckpointRecords(path, { limit: 2 });
  for (const index of [0, 1]) records.add(recordOf(`c-${index}`, index));
  chmodSync(join(path, file), mode);
  await withoutRoot(path, async () => {
    const forbidden = expect.objectContaining({ name: "CheckpointError", code: "disk_read_only" });
    expect(() => new CheckpointRecords(path, { limit: 2 }).add(recordOf("c-2", 2))).toThrow(forbidden);
  });
  chmodSync(join(path, file), 0o700);
  expect(records.all().map(({ checkpointId }) => checkpointId)).toEqual(["c-0", "c-1"]);
});

test("what an earlier version kept beyond the limit goes with the first addition, and with a sweep", () => {
  const path = directory();
  const earlier = new CheckpointRecords(path, { limit: 50 });
  for (let index = 0; index < 30; index += 1) earlier.add(recordOf(`c-${index + 100}`, index));
  const now = new CheckpointRecords(path, { limit: 10 });
  now.remove(() => []);
  expect(onDisk(path)).toBe(10);
  now.add(recordOf("c-new", 100));
  expect(onDisk(path)).toBe(10);
  expect([now.all()[0]?.checkpointId, now.all().at(-1)?.checkpointId]).toEqual(["c-121", "c-new"]);
  expect(now.leftover).toBeDefined();
});

test("what was removed is noted as gone only by who saw it removed", () => {
  const path = directory();
  const records = new CheckpointRecords(path);
  const other = new CheckpointRecords(path);
  for (let index = 0; index < 4; index += 1) records.add(recordOf(`c-${index}`, index));
  expect(records.look()).toMatchObject({ leftover: undefined, records: { length: 4 } });
  records.remove((all) => all.slice(0, 1));
  const { leftover: seen = "" } = records.look();
  other.remove((all) => all.slice(0, 1));
  records.clearLeftover(seen);
  const { leftover: newer } = records.look();
  expect(newer).toBeDefined();
  records.clearLeftover(newer ?? "");
  expect(records.leftover).toBeUndefined();
});

test("several processes that add at once never keep more, and in the end no fewer", async () => {
  const path = directory();
  const [limit, each] = [10, 60];
  const code = `
    import { readdirSync } from "node:fs";
    import { CheckpointRecords } from ${JSON.stringify(import.meta.resolve("#checkpoints/checkpoint-records"))};
    const records = new CheckpointRecords(${JSON.stringify(path)}, { limit: ${limit} });
    process.stdout.write("ready");
    process.stdin.once("data", () => {
      let most = 0;
      for (let index = 0; index < ${each}; index += 1) {
        const before = ${JSON.stringify(before)};
        records.add({ version: 1, checkpointId: "c-" + process.pid + "-" + index, sessionId: "s", time: index, before });
        most = Math.max(most, readdirSync(${JSON.stringify(path)}).filter((name) => name.endsWith(".json")).length);
      }
      process.stdout.write(String(most));
      process.exit();
    });`;
  const children = [1, 2, 3].map(() =>
    spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  await Promise.all(children.map((child) => once(child.stdout, "data")));
  const said = children.map((child) => once(child.stdout, "data"));
  for (const child of children) child.stdin.write("go");
  for (const [most] of await Promise.all(said)) expect(Number(most)).toBe(limit);
  expect(onDisk(path)).toBe(limit);
  const records = new CheckpointRecords(path, { limit });
  expect(records.all().every(({ time }) => time >= each - limit)).toBe(true);
});
