import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapped } from "./wrapped-lines.mjs";

test("breaks at blanks", () => {
  assert.deepEqual(wrapped("the quick brown fox", 9), ["the quick", "brown fox"]);
});

test("keeps long words whole", () => {
  assert.deepEqual(wrapped("an extraordinarily long word", 8), ["an", "extraordinarily", "long", "word"]);
});

test("several blanks are one", () => {
  assert.deepEqual(wrapped("a  b", 10), ["a b"]);
});

test("nothing is not a line", () => {
  assert.deepEqual(wrapped("", 10), []);
});
