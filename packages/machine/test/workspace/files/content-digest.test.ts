import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "#workspace/files/content-digest";

const hashed = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("sha256", () => {
  test("is the digest of the bytes, of any size, also when they were asked for before", () => {
    const size = fc.constantFrom(0, 1, 16_383, 16_384, 16_385, 300_000, 1_048_576, 1_048_577);
    const content = fc.record({ size, byte: fc.integer({ min: 0, max: 2 }), changedAt: fc.nat(1_048_576) });
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 12 }), (contents) => {
        for (const { size, byte, changedAt } of contents) {
          const bytes = Buffer.alloc(size, byte);
          if (size > 0) bytes[changedAt % size] = 7;
          expect(sha256(bytes)).toBe(hashed(bytes));
          expect(sha256(Uint8Array.from(bytes))).toBe(hashed(bytes));
        }
      }),
      { numRuns: 20 },
    );
  });

  test("follows bytes that were written to since", () => {
    const bytes = Buffer.alloc(100_000, 1);
    const before = sha256(bytes);
    bytes[50_000] = 2;
    expect(sha256(bytes)).toBe(hashed(bytes));
    expect(sha256(bytes)).not.toBe(before);
    expect(sha256(Buffer.alloc(100_000, 1))).toBe(before);
  });
});
