import { Code } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test, vi } from "vitest";
import { toConnectError } from "#rpc/connect-error";

test("what a stop broke off may be asked again, and is not a failure of the server", () => {
  const report = vi.fn<(error: unknown) => void>();
  const error = toConnectError(new DOMException("Stopped by the user.", "AbortError"), report);
  expect(error.code).toBe(Code.Aborted);
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ code: "aborted", retryable: true }]);
  expect(report).not.toHaveBeenCalled();
});

test("what nobody expected is told to the server alone", () => {
  const report = vi.fn<(error: unknown) => void>();
  const error = toConnectError(new Error("/home/somebody/secret is missing"), report);
  expect(error.code).toBe(Code.Internal);
  expect(error.message).not.toContain("secret");
  expect(report).toHaveBeenCalledOnce();
});
