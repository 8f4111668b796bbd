import { createHash, randomBytes } from "node:crypto";
import { readdir, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore, type Store } from "#sqlite/store";
import { StoreFixture } from "./store-fixture.ts";

let fixture: StoreFixture;
let store: Store;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  store = await openStore(fixture.stateDir, { onWarning: () => {} });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

function pathOf(sha256: string): string {
  return join(fixture.stateDir, "blobs", sha256.slice(0, 2), sha256);
}

it("keeps bytes by their digest, once, no matter who puts them", async () => {
  const bytes = randomBytes(300_000);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const references = await Promise.all(Array.from({ length: 8 }, () => store.blobs.put(bytes, "image/png")));
  expect(references).toEqual(Array(8).fill({ sha256, size: 300_000, mediaType: "image/png" }));
  expect(Buffer.from((await store.blobs.get(sha256)) ?? []).equals(bytes)).toBe(true);
  expect((await stat(pathOf(sha256))).mode & 0o777).toBe(0o600);
  expect(await readdir(join(fixture.stateDir, "blobs", sha256.slice(0, 2)))).toEqual([sha256]);
  const { sha256: empty } = await store.blobs.put(new Uint8Array(), "text/plain");
  expect(await store.blobs.get(empty)).toHaveLength(0);
});

it("never hands out bytes of another digest", async () => {
  const { sha256 } = await store.blobs.put(Buffer.from("secret plan"), "text/plain");
  await writeFile(pathOf(sha256), "SECRET plan");
  await expect(store.blobs.get(sha256)).rejects.toMatchObject({ code: "corrupt_blob" });
  await truncate(pathOf(sha256), 3);
  await expect(store.blobs.get(sha256)).rejects.toMatchObject({ code: "corrupt_blob" });
  await store.blobs.put(Buffer.from("secret plan"), "text/plain");
  expect(Buffer.from((await store.blobs.get(sha256)) ?? []).toString()).toBe("secret plan");
});

it.each(["", "../../keys/ledger.ed25519", "a".repeat(63), "A".repeat(64), `${"a".repeat(64)}/..`, "f".repeat(64)])(
  "has nothing under %j",
  async (sha256) => {
    expect(await store.blobs.get(sha256)).toBeUndefined();
  },
);

it("follows no link", async () => {
  const { sha256 } = await store.blobs.put(Buffer.from("x"), "text/plain");
  const other = createHash("sha256").update("y").digest("hex");
  const { sha256: y } = await store.blobs.put(Buffer.from("y"), "text/plain");
  expect(y).toBe(other);
  await writeFile(join(fixture.directory, "elsewhere"), "x");

  await rm(pathOf(sha256));
  await symlink(join(fixture.directory, "elsewhere"), pathOf(sha256));
  await expect(store.blobs.get(sha256)).rejects.toThrow();
});

it("makes durable what was there only loosely, or was damaged by a power cut", async () => {
  const bytes = Buffer.from("put loosely at first");
  const { sha256 } = await store.blobs.put(bytes, "text/plain", { durable: false });
  expect(Buffer.from((await store.blobs.get(sha256)) ?? []).toString()).toBe("put loosely at first");
  // As many zeros: the file's length had come to the disk, its bytes had not.
  await writeFile(pathOf(sha256), Buffer.alloc(bytes.length));
  await store.blobs.put(bytes, "text/plain");
  expect(Buffer.from((await store.blobs.get(sha256)) ?? []).toString()).toBe("put loosely at first");
});
