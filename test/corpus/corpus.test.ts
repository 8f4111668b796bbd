import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testCorpus } from "./corpus-tests.ts";
import { heldElsewhere } from "./held-elsewhere.ts";

testCorpus(Number(process.env["GENNAI_CORPUS_SHARE"] || 10));

test.each([...Map.groupBy(heldElsewhere, ([, { file }]) => file)])("%s holds its cases", (file, cases) => {
  const text = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
  expect(cases.filter(([, { title }]) => !text.includes(title))).toEqual([]);
});
