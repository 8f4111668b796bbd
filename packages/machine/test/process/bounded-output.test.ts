import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedOutput } from "#process/bounded-output";

test("keeps everything up to the limit, and both ends above it, in whole characters", () => {
  const piece = fc.constantFrom("a", "ü", "€", "🐢", "\n", "some longer text ");
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 300 }),
      fc.integer({ min: 16, max: 200 }),
      fc.integer({ min: 1, max: 50 }),
      (pieces, limit, step) => {
        const text = pieces.join("");
        const bytes = Buffer.from(text);
        const output = new BoundedOutput(limit);
        for (let at = 0; at < bytes.length; at += step) output.push(bytes.subarray(at, at + step));
        const kept = output.text();
        expect(output.total).toBe(bytes.length);
        if (bytes.length <= limit) {
          expect(kept).toEqual({ text, leftOut: 0, encoding: "utf-8" });
          return;
        }
        const note = `\n[${kept.leftOut} bytes of output left out here]\n`;
        const [head = "", tail = ""] = kept.text.split(note);
        expect(kept.text).toBe(head + note + tail);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + kept.leftOut).toBe(bytes.length);
        expect(kept.leftOut).toBeLessThanOrEqual(bytes.length - limit + 6);
      },
    ),
    { numRuns: 500 },
  );
});
