import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { story } from "../story.mjs";

await story(({ workspace, say, gennai, expect }) => {
  const file = join(workspace, "src/main.js");

  say("The model writes a plan.");
  const written = gennai("plan", "new", "--json", "replace colour with color in src/main.js then verify ls src");
  const { planId, digest } = answer(written).plan;
  expect(
    answer(written).plan.state === "draft" && /colour/.test(readFileSync(file, "utf8")),
    "nothing is changed by that",
  );

  say("A script looks at every action and what the gate says of it.");
  const preview = gennai("plan", "preview", planId, "--json");
  expect(
    preview.code === 0 && answer(preview).plan.state === "awaiting_approval",
    "it waits for an approval",
    preview.output,
  );

  say("Another digest than that of the plan is not an approval.");
  const wrong = gennai("plan", "approve", planId, "--digest", "0".repeat(64), "--yes");
  expect(wrong.code === 3, "it is refused with exit code 3", wrong.output);

  say("The right one is; gennai keeps the token for the next two commands.");
  expect(gennai("plan", "approve", planId, "--digest", digest, "--yes").code === 0, "the plan is approved");
  const executed = gennai("plan", "execute", planId);
  expect(
    executed.code === 0 && /color/.test(readFileSync(file, "utf8")),
    "what was approved was done",
    executed.output,
  );
  const again = gennai("plan", "execute", planId);
  expect(again.code !== 0, "once, and not again", again.output);

  say("The plan is done when its own command proves it.");
  const verified = gennai("plan", "verify", planId, "--json");
  expect(
    verified.code === 0 && answer(verified).result.plan.state === "done",
    "claimed, executed and verified",
    verified.output,
  );

  say("A file that changes between preview and run stops the next plan.");
  const second = answer(
    gennai("plan", "new", "--json", 'replace "Our" with "All" in src/main.js then verify ls src'),
  ).plan;
  gennai("plan", "preview", second.planId);
  gennai("plan", "approve", second.planId, "--yes");
  writeFileSync(file, `${readFileSync(file, "utf8")}// changed meanwhile\n`);
  const moved = gennai("plan", "execute", second.planId);
  expect(moved.code === 3, "it is refused, and the file stays as it is", moved.output);
});

/** @typedef {{ planId: string, digest: string, state: string }} Plan */

/** The last line that a command with --json prints. @param {{ readonly stdout: string }} ended */
function answer({ stdout }) {
  /** @type {{ plan: Plan, result: { plan: Plan } }} */
  const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  return last;
}
