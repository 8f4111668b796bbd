import { expect, test } from "vitest";
import { CleanTexts } from "#redaction/redactor";

test("remembers texts, also such as are no Unicode, up to a size", () => {
  const clean = new CleanTexts();
  for (const text of ["one", "half \ud83d of a pair", ""]) {
    expect(clean.has(text)).toBe(false);
    clean.add(text);
    expect(clean.has(text)).toBe(true);
  }
  expect(clean.has("half \ud83e of a pair")).toBe(false);
  clean.add("x".repeat(16_385));
  expect(clean.has("x".repeat(16_385))).toBe(false);
});

test("forgets all before it holds more than a million characters", () => {
  const clean = new CleanTexts();
  clean.add("first");
  for (let number = 0; number < 200; number += 1) clean.add(`${number} ${"x".repeat(10_000)}`);
  expect(clean.has("first")).toBe(false);
  expect(clean.has(`199 ${"x".repeat(10_000)}`)).toBe(true);
});
