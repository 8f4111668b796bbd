import { afterAll, describe, expect, test } from "vitest";
import { seed } from "../sample.ts";
import { loadCases } from "./corpus-case.ts";
import { corpusChecks } from "./corpus-checks.ts";
import { heldElsewhere } from "./held-elsewhere.ts";
import { closeSharedFixtures } from "./shared-fixtures.ts";

/** Declares a test for one of so many cases of each group, evenly over it, because neighbours are alike. */
export function testCorpus(share: number): void {
  afterAll(closeSharedFixtures);
  for (const [group, all] of Map.groupBy(loadCases(), ({ group }) => group)) {
    const checks = corpusChecks.get(group) ?? {};
    const cases = all.filter(({ id }) => !heldElsewhere.has(id));
    describe(`${group} (one of ${share}, seed ${seed})`, () => {
      test("every case has a check, or is held elsewhere; every check has a case", () => {
        expect(Object.keys(checks).sort()).toEqual(cases.map(({ id }) => id).sort());
      });
      for (const [index, { id, input, required }] of cases.entries()) {
        const check = checks[id];
        if ((index + seed) % share !== 0 || check === undefined || "notApplicable" in check) continue;
        test(`${id} ${required}: ${input}`, () => check.run());
      }
    });
  }
}
