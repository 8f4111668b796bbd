import { readFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, it } from "vitest";
import { KeptPrompts } from "#client/kept-prompts";

it("keeps prompts with their secrets masked, and forgets those of a session or a workspace", async () => {
  await using state = await temporaryDirectory();
  const prompts = new KeptPrompts(state.root);
  const token = `ghp_${"a1B2".repeat(9)}`;
  await prompts.add(`use ${token}`, { workspace: "/a", session: "1" });
  await prompts.add("second", { workspace: "/a", session: "2" });
  await prompts.add("third", { workspace: "/b", session: "3" });
  await prompts.add("third", { workspace: "/b", session: "3" });
  expect(readFileSync(state.path("prompts.jsonl"), "utf8")).not.toContain(token);
  expect(await prompts.load()).toEqual([expect.stringMatching(/^use /), "second", "third"]);
  await prompts.forget({ session: "2" });
  expect(await prompts.load()).toEqual([expect.stringMatching(/^use /), "third"]);
  await prompts.forget({ workspace: "/a" });
  expect(await prompts.load()).toEqual(["third"]);
});
