import { expect, test } from "vitest";
import { roundsOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { kills } from "./runs/kills.ts";

test(`a server killed around commits leaves the tree as before or as after (seed ${seed})`, async () => {
  const hits: string[] = [];
  await kills({ rounds: roundsOf({ few: 2, whole: 500 }), seed, onRound: (_round, hit) => hits.push(hit) });
  expect(hits.join()).toContain("in the commit");
});
