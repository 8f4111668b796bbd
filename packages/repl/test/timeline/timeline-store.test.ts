import { create } from "@bufbuild/protobuf";
import {
  ListLedgerRecordsResponseSchema,
  VerifyLedgerResponseSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import { TimelineStore, type TimelineStoreOptions } from "#timeline/timeline-store";

test("pages go back from the newest record, and what comes later is added", async () => {
  let count = 5;
  const client: TimelineStoreOptions["client"] = {
    async listLedgerRecords({ newest = false, beforeSeq = 0n, afterSeq = 0n, limit = 0 }) {
      const all = Array.from({ length: count }, (_, index) => ({ seq: BigInt(index + 1), json: "{}" }));
      const before = beforeSeq === 0n ? all : all.filter(({ seq }) => seq < beforeSeq);
      const records = newest ? before.slice(-limit) : all.filter(({ seq }) => seq > afterSeq).slice(0, limit);
      return create(ListLedgerRecordsResponseSchema, { records });
    },
    verifyLedger: async () => create(VerifyLedgerResponseSchema, { status: "ok", message: "5 records", records: 5 }),
  };
  using store = new TimelineStore({
    client,
    sessionId: "s",
    pageSize: 2,
    blob: () => Promise.reject(new Error("none")),
  });
  const seqs = () => store.state.value.records.map(({ seq }) => seq);
  await store.load();
  expect([seqs(), store.state.value.hasOlder]).toEqual([[4, 5], true]);
  await store.older();
  count = 7;
  await store.load();
  expect([seqs(), store.state.value.hasOlder]).toEqual([[2, 3, 4, 5, 6, 7], true]);
  await store.older();
  expect([seqs()[0], store.state.value.hasOlder]).toEqual([1, false]);
  await store.verify();
  expect(store.state.value.check).toMatchObject({ status: "ok", firstBadSeq: undefined });
});
