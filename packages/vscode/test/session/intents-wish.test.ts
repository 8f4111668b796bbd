import type { IntentsMode } from "@gennai/protocol/model/governance/intents-mode";
import { expect, it } from "vitest";
import { keepIntentsWish } from "../../src/session/intents-wish.ts";

it.each<[string, IntentsMode | "", IntentsMode | undefined, boolean, readonly IntentsMode[]]>([
  ["no setting", "", "auto", false, []],
  ["another one than the server's", "required", "auto", false, ["required"]],
  ["off", "off", "required", false, ["off"]],
  ["the same as the server's", "required", "required", false, []],
  ["nothing known of the server yet", "required", undefined, false, []],
  ["a window that only watches", "required", "auto", true, []],
])("seed 001 opt-in: a setting of the user: %s", async (_name, wanted, now, watching, sent) => {
  const set: IntentsMode[] = [];
  const changed = await keepIntentsWish({
    wanted: () => wanted,
    now: () => now,
    isWatching: () => watching,
    set: async (mode) => void set.push(mode),
  });
  expect([set, changed]).toEqual([sent, sent.length > 0]);
});
