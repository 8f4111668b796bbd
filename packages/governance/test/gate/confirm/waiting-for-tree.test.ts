import { expect, test } from "vitest";
import { createSingleWriterPolicy } from "#policies/files/single-writer";
import type { Policy } from "#policy";
import { allow, deny } from "#verdict";
import { finding, gateWith } from "../gate-fixture.ts";

function scene(options: { readonly others?: readonly Policy[]; readonly getsIt: boolean }) {
  let claim: "ours" | "held" = "held";
  let waits = 0;
  const { run, steps } = gateWith({
    policies: [
      createSingleWriterPolicy(() => (claim === "ours" ? { type: claim } : { type: claim, by: "session other" })),
      ...(options.others ?? []),
    ],
    waitForTree: async () => {
      waits += 1;
      if (options.getsIt) claim = "ours";
    },
  });
  return { run, steps, waits: () => waits };
}

const denies: Policy = { name: "denies", kind: "guard", decide: () => deny(finding) };

test.each([
  ["runs when the tree is free after the wait", "Change", { getsIt: true }, 1, true],
  ["is refused when it is not", "Change", { getsIt: false }, 1, false],
  ["waits for nothing when something else stands against it", "Change", { others: [denies], getsIt: true }, 0, false],
  ["waits for nothing when it only reads", "Look", { getsIt: true }, 0, true],
] as const)("a call %s", async (_name, tool, options, waits, runs) => {
  const place = scene(options);
  const [result] = [await place.run(tool)].flat();
  expect(place.waits()).toBe(waits);
  expect(place.steps.includes(`execute ${tool}`)).toBe(runs);
  if (!runs && waits > 0) expect(JSON.stringify(result)).toContain("workspace_busy");
});

test("what changed while it waited is decided about anew", async () => {
  let denied = false;
  const later: Policy = { name: "later", kind: "guard", decide: () => (denied ? deny(finding) : allow) };
  let claim: "ours" | "held" = "held";
  const { run, steps } = gateWith({
    policies: [
      createSingleWriterPolicy(() => (claim === "ours" ? { type: claim } : { type: claim, by: "session other" })),
      later,
    ],
    waitForTree: async () => {
      claim = "ours";
      denied = true;
    },
  });
  expect(JSON.stringify(await run("Change"))).toContain(finding.reason);
  expect(steps).not.toContain("execute Change");
});
