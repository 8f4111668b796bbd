import assert from "node:assert/strict";
import { test } from "node:test";
import { wordLengths } from "./word-lengths.mjs";

test("counts words by their length", () => {
  assert.deepEqual(wordLengths("a bc de fgh"), { 1: 1, 2: 2, 3: 1 });
});

test("marks and digits end a word", () => {
  assert.deepEqual(wordLengths("it's 2nd-hand"), { 1: 1, 2: 2, 4: 1 });
});

test("knows letters of any alphabet", () => {
  assert.deepEqual(wordLengths("Öl чай"), { 2: 1, 3: 1 });
});

test("a text without words has none", () => {
  assert.deepEqual(wordLengths("1 + 2"), {});
});
