import { createRedactor } from "@gennai/machine/redaction/redactor";
import { expect, test } from "vitest";
import { Names } from "#telemetry/signals/names";

test.each([
  ["claude-sonnet-5", "claude-sonnet-5"],
  ["mcp__files__read_file", "mcp__files__read_file"],
  ["qwen3:8b", "qwen3:8b"],
  ["with a space", "other"],
  ["/home/someone/script.yaml", "other"],
  ["line\nbreak", "other"],
  ["", "other"],
  ["x".repeat(81), "other"],
  [["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_"), "other"],
])("the name %j is shown as %j", async (name, shown) => {
  expect(await new Names(await createRedactor()).of(name)).toBe(shown);
});

test("a flood of names ends as other; those that were known stay", async () => {
  const names = new Names(await createRedactor());
  const shown = await Promise.all(Array.from({ length: 1_000 }, (_, index) => names.of(`model-${index}`)));
  expect(new Set(shown).size).toBe(201);
  expect(await names.of("model-0")).toBe("model-0");
});
