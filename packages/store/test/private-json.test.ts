import { stat, writeFile } from "node:fs/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import * as z from "zod";
import { PrivateJson } from "#private-json";

const kind = { schema: z.array(z.number()), nothing: [] };

test("what several write at once is all there, and nobody else's to read", async () => {
  await using directory = await temporaryDirectory();
  const writers = Array.from({ length: 8 }, () => new PrivateJson(directory.root, "kept/numbers.json", kind));
  await Promise.all(writers.map((each, number) => each.change((known) => [...known, number])));
  expect((await writers[0]?.read())?.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect((await stat(directory.path("kept/numbers.json"))).mode & 0o077).toBe(0);
});

test.each(["", "[1", '["one"]'])("a file with %j says nothing", async (text) => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.path("numbers.json"), text, { mode: 0o600 });
  expect(await new PrivateJson(directory.root, "numbers.json", kind).read()).toEqual([]);
});
