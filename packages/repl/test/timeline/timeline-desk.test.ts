import { create } from "@bufbuild/protobuf";
import {
  ListLedgerRecordsResponseSchema,
  VerifyLedgerResponseSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import { TimelineDesk, type TimelineDeskOptions } from "#timeline/timeline-desk";

test("pages go back from the newest record, and what comes later is added", async () => {
  let count = 5;
  const client: TimelineDeskOptions["client"] = {
    async listLedgerRecords({ newest = false, beforeSeq = 0n, afterSeq = 0n, limit = 0 }) {
      const all = Array.from({ length: count }, (_, index) => ({ seq: BigInt(index + 1), json: "{}" }));
      const before = beforeSeq === 0n ? all : all.filter(({ seq }) => seq < beforeSeq);
      const records = newest ? before.slice(-limit) : all.filter(({ seq }) => seq > afterSeq).slice(0, limit);
      return create(ListLedgerRecordsResponseSchema, { records });
    },
    verifyLedger: async () => create(VerifyLedgerResponseSchema, { status: "ok", message: "5 records", records: 5 }),
  };
  using desk = new TimelineDesk({ client, sessionId: "s", pageSize: 2, blob: () => Promise.reject(new Error("none")) });
  const seqs = () => desk.view.value.records.map(({ seq }) => seq);
  await desk.load();
  expect([seqs(), desk.view.value.hasOlder]).toEqual([[4, 5], true]);
  await desk.older();
  count = 7;
  await desk.load();
  expect([seqs(), desk.view.value.hasOlder]).toEqual([[2, 3, 4, 5, 6, 7], true]);
  await desk.older();
  expect([seqs()[0], desk.view.value.hasOlder]).toEqual([1, false]);
  await desk.verify();
  expect(desk.view.value.check).toMatchObject({ status: "ok", firstBadSeq: undefined });
});
