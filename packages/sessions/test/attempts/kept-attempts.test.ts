import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { waitingAttempt, withAttempts } from "#attempts/attempt";
import { type AttemptRecord, KeptAttempts } from "#attempts/kept-attempts";

function attempts(id: string, workspace: string): AttemptRecord {
  const set = { id, prompt: "do", check: "true", startedAt: Date.now(), startedIn: "" };
  return {
    workspace,
    user: "",
    clientId: "",
    set: withAttempts({ ...set, isRunning: false, suggested: undefined, attempts: [] }, []),
  };
}

test.each(["copies.json", "attempts.json"])("a %s that was written in part stops nothing, and goes", async (name) => {
  await using state = await temporaryDirectory();
  await using place = await temporaryDirectory();
  const workspace = place.path("workspace");
  mkdirSync(workspace);
  const kept = new KeptAttempts(state.root);
  const open = kept.open(workspace);
  open.write(attempts(open.id, workspace));
  await kept.close(open);
  const broken = join(state.root, "attempts", "0123abcd");
  for (const content of ["", "{", "{}"]) {
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, name), content);
    expect(kept.list().map(({ set }) => set.id)).toEqual([open.id]);
    // The one who makes it has said that it is theirs by then.
    await kept.recover(Date.now() + 120_000);
    expect(existsSync(broken)).toBe(false);
  }
  expect(kept.list(workspace).map(({ set }) => set.id)).toEqual([open.id]);
});

test("what is written stands there whole, and nothing is left beside it", async () => {
  await using state = await temporaryDirectory();
  await using place = await temporaryDirectory();
  const kept = new KeptAttempts(state.root);
  const open = kept.open(place.path("workspace"));
  open.write(attempts(open.id, place.path("workspace")));
  expect(readdirSync(join(state.root, "attempts", open.id)).toSorted()).toEqual([
    "attempts.json",
    "bytes",
    "copies.json",
  ]);
  await kept.recover(Date.now());
  expect(existsSync(open.place)).toBe(true);
  // Only who makes them knows what is to be removed.
  await expect(new KeptAttempts(state.root).drop(open.id)).rejects.toThrow("still being made");
  await kept.close(open);
  expect(existsSync(open.place)).toBe(false);
});

test("of a process that died, the copies go, and what it had come to is said to have ended", async () => {
  await using state = await temporaryDirectory();
  await using place = await temporaryDirectory();
  const kept = new KeptAttempts(state.root);
  const open = kept.open(place.path("workspace"));
  const done = { ...waitingAttempt(1), phase: "ended", outcome: "completed", text: "Done." } as const;
  const all = [done, { ...waitingAttempt(2), phase: "working" as const, sessionId: "s" }, waitingAttempt(3)];
  const record = attempts(open.id, place.path("workspace"));
  open.write({ ...record, set: withAttempts(record.set, all) });
  const claim = join(state.root, "attempts", open.id, "copies.json");
  writeFileSync(claim, JSON.stringify({ owner: "999999999-1-x", place: open.place }));
  await kept.recover(Date.now());
  expect([existsSync(open.place), existsSync(claim)]).toEqual([false, false]);
  const [found] = kept.list();
  expect(found?.set.attempts.map(({ phase, outcome }) => [phase, outcome])).toEqual([
    ["ended", "completed"],
    ["ended", "interrupted"],
    ["ended", "interrupted"],
  ]);
  expect(found?.set.attempts[1]?.text).toContain("the server ended");
});
