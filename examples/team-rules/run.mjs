import { readFileSync } from "node:fs";
import { join } from "node:path";
import { story } from "../story.mjs";

const rules = readFileSync(join(import.meta.dirname, "rules.yaml"), "utf8");

await story(({ workspace, say, write, gennai, feedGennai, expect }) => {
  say("The rules lie in the repository.");
  write(join(workspace, ".gennai/rules.yaml"), rules);
  const tested = gennai("policy", "test");
  expect(
    tested.code === 0 && /^ok +\.gennai\/rules\.yaml/m.test(tested.output),
    "their own examples pass",
    tested.output,
  );

  say("The team's cases are judged; nothing runs.");
  const judged = feedGennai(
    readFileSync(join(import.meta.dirname, "cases.jsonl"), "utf8"),
    "policy",
    "check",
    "--jsonl",
  );
  for (const line of judged.stdout.trim().split("\n")) {
    /** @type {{ id: string, verdict: string }} */
    const { id, verdict } = JSON.parse(line);
    expect(id.startsWith(`${verdict}: `), id, line);
  }

  say("A rule that does not do what its examples say is found before it is in force.");
  write(join(workspace, ".gennai/rules.yaml"), rules.replace(String.raw`(^|[\s;&|])lpr\b`, "lpr"));
  const broken = gennai("policy", "test");
  expect(broken.code !== 0 && /no-print/.test(broken.output), "gennai policy test fails and names it", broken.output);
});
