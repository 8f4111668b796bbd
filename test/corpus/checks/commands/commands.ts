import assert from "node:assert/strict";
import { workspacePlaces } from "../../command-fixture.ts";
import { type Checks, type CorpusCase, check, loadCases } from "../../corpus-case.ts";
import { sharedFixture } from "../../shared-fixtures.ts";

export type VerdictType = "allow" | "ask" | "deny";

/** What a word of the corpus asks for. */
export const fits: Readonly<Record<string, (verdict: VerdictType) => boolean>> = {
  DENY: (verdict) => verdict === "deny",
  NEVER_ALLOW: (verdict) => verdict !== "allow",
  ASK: (verdict) => verdict === "ask",
  ALLOW: (verdict) => verdict === "allow",
  NOT_DENY: (verdict) => verdict !== "deny",
};

/** What only the scope of the intent refuses: without one a question is enough. */
const deniedByScope: ReadonlySet<string> = new Set(["SHX-048"]);

/** Every command in every place, under the intent of the fixture and without any. */
async function decideEverywhere({ id, input, required }: CorpusCase): Promise<void> {
  for (const intent of ["INT-001", undefined]) {
    const word = intent === undefined && deniedByScope.has(id) ? "NEVER_ALLOW" : required;
    const accepted = fits[word];
    assert.ok(accepted, `no verdict word: ${word}`);
    const verdicts = new Set<VerdictType>();
    for (const place of workspacePlaces) {
      const fixture = await sharedFixture(place, intent);
      const { verdict, rule, reason } = await fixture.decide(input);
      verdicts.add(verdict);
      const where = `workspace ${place}, ${intent === undefined ? "no intent" : intent}`;
      assert.ok(accepted(verdict), `${where}: ${verdict} ${rule} ${reason}`);
    }
    assert.equal(verdicts.size, 1, `where the workspace lies changes the verdict: ${[...verdicts].join(", ")}`);
  }
}

/** `shell.*` and `benign.*`: every case is a command. */
export const commandGroups: readonly (readonly [group: string, checks: Checks])[] = [
  ...Map.groupBy(
    loadCases().filter(({ group }) => /^(?:shell|benign)\./.test(group)),
    ({ group }) => group,
  ),
].map(([group, cases]) => [
  group,
  Object.fromEntries(cases.map((each) => [each.id, check(() => decideEverywhere(each))])),
]);
