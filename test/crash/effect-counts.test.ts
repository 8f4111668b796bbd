import { expect, test } from "vitest";
import { EffectCounts } from "./effect-counts.ts";

test.each([
  ["as many as wanted", { editing: 2 }, { editing: 2 }, undefined],
  ["one too few", { editing: 1 }, { editing: 2 }, "editing: 1 effects, at least 2 must be"],
  ["an activity that did nothing", { editing: 1 }, { editing: 1, asking: 1 }, "asking: 0 effects"],
  ["nothing wanted", { editing: 1 }, {}, "No activity is said to have an effect."],
])("%s", (_name, counts, wanted, problem) => {
  const effects = new EffectCounts();
  for (const [activity, count] of Object.entries(counts)) effects.add(activity, count);
  for (const [activity, count] of Object.entries(wanted)) effects.want(activity, count);
  const check = () => effects.expectAll();
  if (problem === undefined) check();
  else expect(check).toThrow(problem);
});
