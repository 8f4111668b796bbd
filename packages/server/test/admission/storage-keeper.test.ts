import { existsSync } from "node:fs";
import { lastStorageUse, noteStorageUse } from "@gennai/store/purge/storage-use";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { StorageKeeper } from "#admission/storage-keeper";

const day = 24 * 60 * 60_000;

test("storage is looked after once a day, whatever the clock was, until the server ends", async () => {
  await using place = await temporaryDirectory({});
  const passing: PromiseWithResolvers<void>[] = [];
  let asked = Promise.withResolvers<void>();
  const wait = (_milliseconds: number, signal: AbortSignal): Promise<void> => {
    const pause = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => pause.reject(signal.reason));
    passing.push(pause);
    asked.resolve();
    return pause.promise;
  };
  /** Lets the pause pass, and gives when storage was looked at last, once the next pause begins. */
  const pass = async (): Promise<number | undefined> => {
    await asked.promise;
    asked = Promise.withResolvers<void>();
    passing.shift()?.resolve();
    await asked.promise;
    return lastStorageUse(place.root)?.at;
  };
  const log = { info: () => undefined, warn: (text: string) => expect.fail(text) };
  {
    await using _keeper = new StorageKeeper(place.root, { mostBytes: 1024 ** 3, log, wait });
    expect(lastStorageUse(place.root)).toBeUndefined();
    const first = await pass();
    expect(first).toBeGreaterThan(0);
    expect(await pass()).toBe(first);
    for (const at of [Date.now() - day - 1, Date.now() + 30 * day]) {
      const use = lastStorageUse(place.root);
      if (use !== undefined) noteStorageUse(place.root, { ...use, at });
      expect(await pass()).not.toBe(at);
    }
  }
  expect(existsSync(place.root)).toBe(true);
});

test.each([
  [
    "fails",
    () => Promise.reject(new Error("the database is damaged")),
    "Old sessions could not be purged: the database",
  ],
  ["is refused", async () => ({ purged: 0, refusals: ["It is at work.", "It too."] }), /refused: 2\. .*It is at work/],
])("storage is freed, and the log told, where a purge %s", async (_what, purge, told) => {
  await using place = await temporaryDirectory({});
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (text: string) => void warnings.push(text) };
  const again = Promise.withResolvers<void>();
  let passed = false;
  const wait = async (_milliseconds: number, signal: AbortSignal): Promise<void> => {
    if (!passed) {
      passed = true;
      return;
    }
    again.resolve();
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  await using _keeper = new StorageKeeper(place.root, { mostBytes: 1024 ** 3, log, wait, purge });
  await again.promise;
  expect(warnings).toEqual([expect.stringMatching(told)]);
  expect(lastStorageUse(place.root)?.at).toBeGreaterThan(0);
});
