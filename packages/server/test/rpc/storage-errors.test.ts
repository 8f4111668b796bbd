import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { StoreError } from "@gennai/store/database/store-error";
import { expect, test } from "vitest";
import { toConnectError } from "#rpc/connect-error";

test.each([
  [Object.assign(new Error("write"), { code: "ENOSPC" }), "disk_full"],
  [Object.assign(new Error("open"), { code: "EROFS" }), "disk_read_only"],
  [Object.assign(new Error("open"), { code: "EMFILE" }), "too_many_files"],
  [Object.assign(new Error("read"), { code: "EIO" }), "disk_failed"],
  [new StoreError("read_only", "attempt to write a readonly database"), "disk_read_only"],
  [new StoreError("io", "disk I/O error"), "disk_failed"],
  [new StoreError("busy", "locked"), "unavailable"],
])("%s is told by name, and reported once", (error, code) => {
  const reported: unknown[] = [];
  const told = toConnectError(error, (each) => reported.push(each));
  expect(told.findDetails(ErrorInfoSchema)).toMatchObject([{ code, retryable: true }]);
  expect(reported).toEqual([error]);
});
