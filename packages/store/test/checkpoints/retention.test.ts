import { hash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { CheckpointRecords } from "#checkpoints/checkpoint-records";
import { checkpointDirectory, WorkspaceCheckpoints } from "#checkpoints/workspace-checkpoints";

const { signal } = new AbortController();
const day = 24 * 60 * 60_000;

/** Checkpoints of a workspace with one file, at a time that the test sets. */
async function kept(options: { readonly maxBytes?: number } = {}) {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const workspace = parts.use(await temporaryDirectory({ "a.txt": "first\n" }));
  const clock = { now: 100 * day };
  const place = { stateDir: state.root, root: workspace.root, now: () => clock.now, ...options };
  const checkpoints = parts.use(new WorkspaceCheckpoints(place));
  const records = new CheckpointRecords(join(checkpointDirectory(place), "records"));
  const owned = parts.move();
  return {
    stateDir: state.root,
    root: workspace.root,
    workspace,
    clock,
    checkpoints,
    records,
    /** A call that changes the file. */
    command: async (content: string | Uint8Array): Promise<string> => {
      const id = await checkpoints.open("session", signal);
      await workspace.write("a.txt", content);
      await checkpoints.close(id);
      return id;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("what is older than two weeks goes, what is not stays and can be gone back to", async () => {
  await using place = await kept();
  const { checkpoints, clock } = place;
  const old = await place.command("second\n");
  clock.now += 13 * day;
  await checkpoints.sweep();
  expect(checkpoints.isKept(old)).toBe(true);
  const younger = await place.command("third\n");
  clock.now += 2 * day;
  await checkpoints.sweep();
  expect(checkpoints.isKept(old)).toBe(false);
  expect(await checkpoints.changesOf(old)).toBeUndefined();
  const [change] = (await checkpoints.changesOf(younger)) ?? [];
  const object = change?.before.type === "file" && "object" in change.before ? change.before.object : undefined;
  expect(change).toMatchObject({ path: "a.txt", before: { type: "file" }, after: { type: "file" } });
  if (object !== undefined) expect((await checkpoints.contents([object])).get(object)?.toString()).toBe("second\n");
});

test("of more than two hundred the oldest go", async () => {
  await using place = await kept();
  const { checkpoints, records, clock } = place;
  const id = await place.command("second\n");
  const like = records.read(id);
  if (like === undefined) throw new Error("it was just kept");
  const ids = Array.from({ length: 205 }, () => `c-${randomBytes(8).toString("hex")}`);
  for (const [index, checkpointId] of ids.entries()) {
    records.add({ ...like, checkpointId, time: clock.now + index + 1 });
  }
  const left = new Set(records.all().map(({ checkpointId }) => checkpointId));
  expect(left.size).toBe(200);
  expect([id, ...ids].filter((each) => !left.has(each))).toEqual([id, ...ids.slice(0, 5)]);
  expect(await checkpoints.changesOf(ids.at(-1) ?? "")).toHaveLength(1);
});

test("above the size that is kept at most, the older half goes, and its contents with it", async () => {
  await using place = await kept({ maxBytes: 256 * 1024 });
  const { checkpoints, clock, workspace } = place;
  const ids: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    clock.now += 1_000;
    ids.push(await place.command(randomBytes(100 * 1024)));
  }
  await checkpoints.sweep();
  expect(ids.map((id) => checkpoints.isKept(id))).toEqual([false, false, true, true]);
  await checkpoints.sweep();
  expect(readdirSync(workspace.root)).toEqual(["a.txt"]);
});

test("contents that could not be removed go when they are asked for again", async () => {
  await using place = await kept();
  const { checkpoints, records, stateDir, root } = place;
  await place.command("secret\n");
  const shadow = readdirSync(checkpointDirectory({ stateDir, root }), { recursive: true, encoding: "utf8" });
  const pack = join(
    checkpointDirectory({ stateDir, root }),
    shadow.find((name) => name.endsWith("objects")) ?? "",
    "pack",
  );
  // git puts what it repacks there.
  rmSync(pack, { recursive: true, force: true });
  writeFileSync(pack, "");
  await expect(checkpoints.forgetSessions(new Set(["session"]))).rejects.toThrow();
  expect(records.leftover).toBeDefined();
  rmSync(pack);
  await checkpoints.forgetSessions(new Set(["session"]));
  expect(records.leftover).toBeUndefined();
});

test.each([
  ["the only session", [], "gone"],
  ["one of two sessions", ["other"], "kept"],
] as const)(
  "forgetting %s leaves no text that neither the workspace nor a checkpoint has",
  async (_what, others, before) => {
    await using place = await kept();
    const { checkpoints, workspace } = place;
    for (const session of others) await checkpoints.close(await checkpoints.open(session, signal));
    await place.command("secret\n");
    await workspace.write("a.txt", "the user's\n");
    await checkpoints.forgetSessions(new Set(["session"]));
    const isThere = (text: string) =>
      checkpoints.contents([hash("sha1", `blob ${text.length}\0${text}`)]).then(
        () => "kept",
        () => "gone",
      );
    expect(await Promise.all(["first\n", "secret\n", "the user's\n"].map(isThere))).toEqual([before, "gone", "kept"]);
    // Those of others, and of the same process, go on.
    const id = await place.command("fourth\n");
    expect(await checkpoints.changesOf(id)).toHaveLength(1);
  },
);

test("of a workspace that is gone nothing stays of a forgotten session", async () => {
  await using place = await kept();
  const { checkpoints, root } = place;
  await place.command("secret\n");
  rmSync(root, { recursive: true });
  await checkpoints.forgetSessions(new Set(["session"]));
  const object = hash("sha1", "blob 7\0secret\n");
  await expect(checkpoints.contents([object])).rejects.toMatchObject({ code: "not_kept" });
});

test("records that cannot be written are the problem until they can, so that a person is asked", async () => {
  await using place = await kept();
  await place.command("second\n");
  const lock = join(checkpointDirectory({ stateDir: place.stateDir, root: place.root }), "records", "taking");
  rmSync(lock);
  mkdirSync(lock);
  await expect(place.command("third\n")).rejects.toMatchObject({ name: "CheckpointError", code: "disk_read_only" });
  expect(place.checkpoints.problem).toMatchObject({ code: "disk_read_only" });
  rmdirSync(lock);
  await place.command("fourth\n");
  expect(place.checkpoints.problem).toBeUndefined();
});
