import { afterEach, beforeEach, expect, test } from "vitest";
import { readLedgerRecords, readNewestLedgerRecords } from "#audit/ledger-records";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  await using store = await fixture.open();
  await store.log.append(
    "s",
    { events: [], ledger: [entryOf(1), entryOf(2), entryOf(3), entryOf(4), entryOf(5)], durable: true },
    { seq: 0, epoch: 1 },
  );
});
afterEach(() => fixture[Symbol.asyncDispose]());

const seqs = (records: readonly { readonly seq: number }[]) => records.map(({ seq }) => seq);

test.each([
  { name: "from the first", page: () => readLedgerRecords(fixture.stateDir, fixture.root, 0, 2), wanted: [1, 2] },
  { name: "after one", page: () => readLedgerRecords(fixture.stateDir, fixture.root, 3, 9), wanted: [4, 5] },
  {
    name: "the newest",
    page: () => readNewestLedgerRecords(fixture.stateDir, fixture.root, Number.MAX_SAFE_INTEGER, 2),
    wanted: [4, 5],
  },
  { name: "before one", page: () => readNewestLedgerRecords(fixture.stateDir, fixture.root, 4, 2), wanted: [2, 3] },
  { name: "before the first", page: () => readNewestLedgerRecords(fixture.stateDir, fixture.root, 1, 2), wanted: [] },
  { name: "another workspace", page: () => readNewestLedgerRecords(fixture.stateDir, "/nowhere", 9, 2), wanted: [] },
])("records, $name", ({ page, wanted }) => {
  expect(seqs(page())).toEqual(wanted);
});
