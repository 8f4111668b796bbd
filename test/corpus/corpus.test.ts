import { afterAll, describe, expect, test } from "vitest";
import { type CorpusCase, loadCases } from "./corpus-case.ts";
import { corpusChecks } from "./corpus-checks.ts";
import { closeSharedFixtures } from "./shared-fixtures.ts";

afterAll(closeSharedFixtures);

/** Which cases are tried: the same seed, the same ones. */
const seed = Number(process.env["GENNAI_CORPUS_SEED"] || Date.now() % 1_000_000);
/** One of so many cases is tried; `GENNAI_CORPUS_SHARE=1` and `npm run corpus` try all. */
const share = Number(process.env["GENNAI_CORPUS_SHARE"] || 4);

const groups = Map.groupBy(loadCases(), ({ group }) => group);

for (const [group, checks] of corpusChecks) {
  const cases = groups.get(group) ?? [];
  describe(`${group} (one of ${share}, seed ${seed})`, () => {
    test("every case has a check, every check a case", () => {
      expect(Object.keys(checks).sort()).toEqual(cases.map(({ id }) => id).sort());
    });
    for (const { id, input, required } of sampleOf(cases)) {
      const check = checks[id];
      if (check === undefined || "notApplicable" in check) continue;
      test(`${id} ${required}: ${input}`, async () => {
        await check.run();
      });
    }
  });
}

/** Evenly over a group, because neighbours are alike; the seed says where it begins. */
function sampleOf(cases: readonly CorpusCase[]): readonly CorpusCase[] {
  return cases.filter((_case, index) => (index + seed) % share === 0);
}
