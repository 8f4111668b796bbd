import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { SeenContents } from "#session/state/seen-contents";

const sha = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function store(failure?: Error) {
  const blobs = new Map<string, Uint8Array>();
  const puts: number[] = [];
  const seen = () =>
    new SeenContents(
      {
        put: async (bytes, mediaType) => {
          if (failure !== undefined) throw failure;
          puts.push(bytes.length);
          blobs.set(sha(bytes), bytes);
          return { sha256: sha(bytes), size: bytes.length, mediaType };
        },
        get: async (sha256) => blobs.get(sha256),
      },
      {
        redact: async (text) => text.replaceAll("secret", "[REDACTED:x]"),
        stream: () => ({ push: async (text) => text, end: async () => "" }),
      },
    );
  return { seen, puts };
}

test("what was seen is there, and after it was stored in a new session as well", async () => {
  const { seen, puts } = store();
  const first = seen();
  const bytes = Buffer.from("text");
  first.keep(sha(bytes), bytes);
  expect(await first.get(sha(bytes))).toBe(bytes);
  expect(await seen().get(sha(bytes))).toBeUndefined();
  await first.store();
  await first.store();
  expect(puts).toEqual([4]);
  expect(await seen().get(sha(bytes))).toEqual(bytes);
  expect(await first.get("0".repeat(64))).toBeUndefined();
});

test("text with a secret in it is not put on disk", async () => {
  const { seen, puts } = store();
  const contents = seen();
  const bytes = Buffer.from("a secret");
  contents.keep(sha(bytes), bytes);
  await contents.store();
  expect(puts).toEqual([]);
  expect(await contents.get(sha(bytes))).toBe(bytes);
});

test("of a file that a turn changes again and again, the last version is stored, and with a change of another file at once", async () => {
  const { seen, puts } = store();
  const contents = seen();
  const last = new Map<string, string>();
  const write = (path: string, length: number, beforeSha256 = last.get(path)) => {
    const bytes = Buffer.alloc(length, "a");
    contents.keep(sha(bytes), bytes);
    last.set(path, sha(bytes));
    contents.storeLastWritten([
      { path, afterSha256: sha(bytes), ...(beforeSha256 === undefined ? {} : { beforeSha256 }) },
    ]);
  };
  for (const length of [1, 2, 3]) write("one", length);
  expect(puts).toEqual([]);
  write("other", 10);
  await expect.poll(() => puts).toEqual([3]);
  write("other", 11);
  await contents.store();
  expect(puts).toEqual([3, 11]);
  // Somebody else changed it meanwhile: what undo keeps from before is theirs.
  write("other", 12);
  write("other", 13, "theirs");
  await expect.poll(() => puts).toEqual([3, 11, 12]);
});

test("memory is bounded: the oldest go first, what is too large never comes in", async () => {
  const { seen, puts } = store();
  const contents = seen();
  const files = Array.from({ length: 20 }, (_, index) => Buffer.alloc(1024 * 1024, index));
  for (const bytes of files) contents.keep(sha(bytes), bytes);
  const kept = await Promise.all(files.map((bytes) => contents.get(sha(bytes))));
  expect(kept.map((bytes) => bytes !== undefined)).toEqual(files.map((_, index) => index >= 12));
  const large = Buffer.alloc(1024 * 1024 + 1);
  contents.keep(sha(large), large);
  expect(await contents.get(sha(large))).toBeUndefined();
  await contents.store();
  expect(puts).toEqual([]);
});

test("a disk that is full stops nothing", async () => {
  const contents = store(new Error("no space")).seen();
  const bytes = Buffer.from("text");
  contents.keep(sha(bytes), bytes);
  await expect(contents.store()).resolves.toBeUndefined();
  expect(await contents.get(sha(bytes))).toBe(bytes);
});
