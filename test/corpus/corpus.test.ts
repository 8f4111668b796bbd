import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { loadCases } from "./corpus-case.ts";
import { corpusChecks } from "./corpus-checks.ts";
import { closeSharedFixtures } from "./shared-fixtures.ts";

afterAll(closeSharedFixtures);

const all = loadCases();
const here = all.filter(({ heldBy }) => heldBy === undefined);
const sample = new Set(sampleOf(here, 40));

describe.each([...Map.groupBy(here, ({ group }) => group)])(`%s (seed ${seed})`, (group, cases) => {
  const checks = corpusChecks.get(group) ?? {};
  test("every case has a check, or is held elsewhere; every check has a case", () => {
    expect(Object.keys(checks).sort()).toEqual(cases.map(({ id }) => id).sort());
  });
  for (const each of cases.filter((one) => sample.has(one))) {
    const check = checks[each.id];
    if (check === undefined || "notApplicable" in check) continue;
    test(`${each.id} ${each.required}: ${each.input}`, () => check.run());
  }
});

const held = all.flatMap(({ heldBy }) => {
  const [, file, title] = /^(\S+): (.*)$/.exec(heldBy ?? "") ?? [];
  return file === undefined || title === undefined ? [] : [{ file, title }];
});

test.each([...Map.groupBy(held, ({ file }) => file)])("%s holds its cases", (file, cases) => {
  const text = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
  expect(cases.filter(({ title }) => !text.includes(title))).toEqual([]);
});
