import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { holdRealDirectory } from "#workspace/files/held-directory";
import { holdsBytes, readHeldFile, readHeldFileInPieces } from "#workspace/files/held-file";

const directory = realpathSync(mkdtempSync(join(tmpdir(), "gennai-held-file-")));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const hashed = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Around the sizes from which contents are remembered, up to which they are, and which are compared in one piece. */
const size = fc.constantFrom(0, 1, 16_384, 65_535, 65_536, 65_537, 300_000, 1_048_576, 1_048_577);
const version = fc.record({
  size,
  byte: fc.integer({ min: 0, max: 1 }),
  changedAt: fc.constantFrom(0, 1, 65_535, 65_536, 299_999, 1_048_575),
});

describe("a file that is read again and again", () => {
  test("is what it holds at each time, also when it was that before, or is nearly what it was", async () => {
    using held = holdRealDirectory(directory, []);
    await fc.assert(
      fc.asyncProperty(fc.array(version, { minLength: 2, maxLength: 8 }), async (versions) => {
        for (const { size: length, byte, changedAt } of [...versions, ...versions.slice(0, 2)]) {
          const bytes = Buffer.alloc(length, byte);
          if (length > 0) bytes[changedAt % length] = 7;
          writeFileSync(join(directory, "file"), bytes);
          for (const read of [
            readHeldFile(held, "file"),
            await readHeldFileInPieces(held, "file", { maxBytes: 2_000_000 }),
          ]) {
            expect(bytes.equals(read.bytes)).toBe(true);
            expect(read.sha256).toBe(hashed(bytes));
          }
          expect(holdsBytes(held, "file", bytes)).toBe(true);
          expect(holdsBytes(held, "file", Buffer.concat([bytes, Buffer.from("more")]))).toBe(false);
          if (length > 0) expect(holdsBytes(held, "file", bytes.subarray(1))).toBe(false);
        }
      }),
      { numRuns: 8 },
    );
  });

  test("keeps what was read of it when it changes afterwards", () => {
    using held = holdRealDirectory(directory, []);
    writeFileSync(join(directory, "file"), Buffer.alloc(100_000, 1));
    const first = readHeldFile(held, "file");
    const again = readHeldFile(held, "file");
    writeFileSync(join(directory, "file"), Buffer.alloc(100_000, 2));
    const changed = readHeldFile(held, "file");
    expect(Buffer.alloc(100_000, 1).equals(first.bytes)).toBe(true);
    expect(Buffer.alloc(100_000, 1).equals(again.bytes)).toBe(true);
    expect(Buffer.alloc(100_000, 2).equals(changed.bytes)).toBe(true);
  });

  test("has the permissions that it has now, whatever it had when the same content was read", () => {
    using held = holdRealDirectory(directory, []);
    const bytes = Buffer.alloc(50_000, 3);
    writeFileSync(join(directory, "one"), bytes, { mode: 0o644 });
    writeFileSync(join(directory, "other"), bytes, { mode: 0o600 });
    expect(readHeldFile(held, "one").mode).toBe(statSync(join(directory, "one")).mode & 0o777);
    expect(readHeldFile(held, "other").mode).toBe(statSync(join(directory, "other")).mode & 0o777);
  });

  test("is refused when it is too large, also where its content is known", () => {
    using held = holdRealDirectory(directory, []);
    writeFileSync(join(directory, "file"), Buffer.alloc(20_000, 4));
    readHeldFile(held, "file");
    expect(() => readHeldFile(held, "file", 19_999)).toThrow("larger than 19999 bytes");
  });
});
