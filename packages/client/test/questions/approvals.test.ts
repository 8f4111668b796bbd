import { create } from "@bufbuild/protobuf";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { sha256Hex } from "@gennai/protocol/digest";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ConfirmationRequestSchema, GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { askApprovals } from "#questions/approvals";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const action = { requestId: "one-1", actionJson: "{}", actionSha256: sha256Hex("{}") };

/** Answers each look from the lists, the last one again and again. */
function server({ features, lists }: { features: string[][]; lists: { ids: string[]; unanswered?: string[] }[] }) {
  const next = <Value>(all: Value[]): Value | undefined => (all.length > 1 ? all.shift() : all[0]);
  const transport = createRouterTransport((router) => {
    router.service(AgentService, { getServerInfo: () => ({ features: next(features) ?? [] }) });
    router.service(GovernanceService, {
      listApprovals: () => {
        const { ids = [], unanswered = [] } = next(lists) ?? {};
        const approvals = ids.map((requestId) => ({
          question: create(ConfirmationRequestSchema, { ...action, requestId }),
        }));
        return { approvals, unanswered };
      },
    });
  });
  return { agent: createClient(AgentService, transport), governance: createClient(GovernanceService, transport) };
}

test("a role granted later is noticed; a question is over when its server lists it no more, not when that gives no answer", async () => {
  const end = new AbortController();
  const told: string[] = [];
  const asking = askApprovals(
    server({
      features: [["two-persons"], ["two-persons", "approvals"]],
      lists: [{ ids: ["one-1"] }, { ids: [], unanswered: ["one-"] }, { ids: [] }],
    }),
    {
      confirm: (question, { signal }) => {
        told.push(`asked ${question.requestId}`);
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            told.push("over");
            reject(signal.reason);
          });
        });
      },
      isSeen: () => true,
      failed: () => undefined,
      signal: end.signal,
    },
  );
  asking.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(told).toEqual(["asked one-1"]);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(told).toEqual(["asked one-1"]);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(told).toEqual(["asked one-1", "over"]);
  end.abort(new Error("ended"));
  await expect(asking).rejects.toThrow("ended");
});

test("where nobody can be a second person, it does not look again", async () => {
  const signal = new AbortController().signal;
  const confirm = () => Promise.reject(new Error("Nobody is asked."));
  const of = server({ features: [[]], lists: [] });
  await askApprovals(of, { confirm, isSeen: () => true, failed: () => undefined, signal });
});
