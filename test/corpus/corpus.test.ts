import { afterAll, describe, expect, test } from "vitest";
import { loadCases } from "./corpus-case.ts";
import { corpusChecks } from "./corpus-checks.ts";
import { closeSharedFixtures } from "./shared-fixtures.ts";

afterAll(closeSharedFixtures);

const groups = Map.groupBy(loadCases(), ({ group }) => group);

for (const [group, checks] of corpusChecks) {
  const cases = groups.get(group) ?? [];
  describe(`${group}`, () => {
    test("every case has a check, every check a case", () => {
      expect(Object.keys(checks).sort()).toEqual(cases.map(({ id }) => id).sort());
    });
    for (const { id, input, required } of cases) {
      const check = checks[id];
      if (check === undefined || "notApplicable" in check) continue;
      test(`${id} ${required}: ${input}`, { timeout: 30_000 }, async () => {
        await check.run();
      });
    }
  });
}
