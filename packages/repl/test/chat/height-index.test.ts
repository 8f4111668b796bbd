import fc from "fast-check";
import { expect, it } from "vitest";
import { HeightIndex } from "#chat/height-index";

const height = fc.integer({ min: 0, max: 500 });
const operation = fc.oneof(
  fc.record({ type: fc.constant("append" as const), height }),
  fc.record({ type: fc.constant("set" as const), row: fc.nat(200), height }),
);

it("heights of rows: has the sums of the heights it was given", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), fc.nat(20_000), (operations, offset) => {
      const index = new HeightIndex();
      const heights: number[] = [];
      for (const each of operations) {
        if (each.type === "append") {
          index.append(each.height);
          heights.push(each.height);
        } else if (each.row < heights.length) {
          index.set(each.row, each.height);
          heights[each.row] = each.height;
        }
      }
      const sums = heights.map((_, row) => heights.slice(0, row).reduce((sum, one) => sum + one, 0));
      expect(heights.map((_, row) => index.offset(row))).toEqual(sums);
      expect(index.total).toBe(heights.reduce((sum, one) => sum + one, 0));
      const row = index.rowAt(offset);
      expect(row).toBe(
        heights.length === 0
          ? -1
          : Math.max(
              0,
              sums.findLastIndex((sum) => sum <= offset),
            ),
      );
    }),
  );
});
