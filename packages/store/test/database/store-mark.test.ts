import { readFile } from "node:fs/promises";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { databaseFile, StoreDatabase } from "#database/database";
import { databaseMark, StoreMark, storeMarkFile } from "#database/store-mark";
import { openLedgerSigner } from "#ledger/ledger-key";

test("marks are signed one after the other, never back, also after one that could not be", async () => {
  await using state = await temporaryDirectory();
  using database = await StoreDatabase.open(databaseFile(state.root));
  const troubles: unknown[] = [];
  const mark = new StoreMark(database, {
    stateDir: state.root,
    signer: await openLedgerSigner(state.root),
    verifier: async () => {
      await jobs.shift()?.();
      return undefined;
    },
    onStepBack: () => troubles.push("step back"),
    onTrouble: (error) => troubles.push(error),
    onWritten: () => undefined,
  });
  await mark.begin({ anew: false });
  const jobs: (() => Promise<void>)[] = [];
  const commit = (work: () => Promise<void>): Promise<void> => {
    jobs.push(work);
    database.transaction({ durable: true }, () => undefined);
    return mark.flush();
  };
  expect(await raceJobs(commit)).toEqual(oneAfterTheOther);
  expect(troubles).toEqual([new Error("Job 2 fails.")]);
  const { commits } = JSON.parse(await readFile(storeMarkFile(state.root), "utf8"));
  expect(commits).toBe(databaseMark(database)?.commits);
});
