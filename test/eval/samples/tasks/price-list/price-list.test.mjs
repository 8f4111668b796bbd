import assert from "node:assert/strict";
import { test } from "node:test";
import { totals } from "./price-list.mjs";

test("adds up by name", () => {
  assert.deepEqual(totals(["apple 3 0.40", "pear 1 0.55", "apple 1 0.40"]), { apple: 160, pear: 55 });
});

test("names have blanks", () => {
  assert.deepEqual(totals(["green tea 2 1.10"]), { "green tea": 220 });
});

test("cents are whole", () => {
  assert.deepEqual(totals(["nail 3 0.10"]), { nail: 30 });
});

test("says which line is none", () => {
  assert.throws(() => totals(["apple 3 0.40", "apple"]), { name: "RangeError", message: /2/ });
});
