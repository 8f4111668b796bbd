import { expect, test } from "vitest";
import { roundsOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { meanwhile } from "./runs/meanwhile.ts";

test(`nothing is lost of a user who works beside staged commands (seed ${seed})`, async () => {
  const hits: string[] = [];
  await meanwhile({ rounds: roundsOf({ few: 3, whole: 200 }), seed, onRound: (_round, hit) => hits.push(hit) });
  expect(hits.join()).toContain(": kept");
  expect(hits.join()).toContain(": not kept");
});
