import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { harmOf } from "./look/harm.ts";
import { loadCommands } from "./runs/run-commands.ts";

test(`hostile commands do no harm, and what would be harm is seen (seed ${seed})`, async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  const outcomes: string[] = [];
  const shown = { id: "shown", class: "", command: "echo C A N A R Y - 9 f 8 e 7 d 6 c 5 b 4 a" };
  const commands = [...sampleOf(loadCommands("hostile"), 2), shown];
  expect(await harmOf(commands, ({ outcome }) => outcomes.push(outcome))).toEqual([
    { id: shown.id, command: shown.command, what: "a secret was shown" },
  ]);
  expect(outcomes).toHaveLength(commands.length);
  expect(outcomes.at(-1)).toBe("ran");
});
