import { test } from "vitest";
import { applyRounds } from "./apply/apply-rounds.ts";
import { type CrashOptions, crashOptions } from "./crash-options.ts";
import { serverRounds } from "./server/server-rounds.ts";
import { keyRounds, storeRounds } from "./store/store-rounds.ts";

const kinds: readonly [string, (options: CrashOptions) => Promise<void>, number][] = [
  ["turns, questions, proposals and runs of plans", serverRounds, 60],
  ["sets of changes", applyRounds, 60],
  ["events and records of the ledger", storeRounds, 100],
  ["hand-overs of the ledger from key to key", keyRounds, 40],
];

test.each(kinds)(
  "many kills in the middle of %s",

  async (_name, run, rounds) => run(crashOptions(rounds)),
);
