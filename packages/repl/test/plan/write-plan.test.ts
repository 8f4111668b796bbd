import { create } from "@bufbuild/protobuf";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { InvokeEventSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test, vi } from "vitest";
import { writePlan } from "#plan/write-plan";

const { failures } = vi.hoisted(() => ({ failures: [] as string[] }));
vi.mock("@gennai/client/session/subscription", () => ({
  subscribe: async function* () {
    for (const value of failures) yield create(InvokeEventSchema, { turnId: "t", event: { case: "error", value } });
    const value = { state: InvokeState.ERROR };
    yield create(InvokeEventSchema, { turnId: "t", event: { case: "status", value } });
  },
}));

test.each([
  [["The provider refuses the key."], "The provider refuses the key."],
  [[], "The turn failed."],
])("a turn that fails with %j says so", async (said, message) => {
  failures.splice(0, failures.length, ...said);
  const identity = { clientId: "c", name: "test", version: "1" };
  const startTurn = async () => ({ turnId: "t", afterSeq: 0n });
  const session = { sessionId: "s", identity, startTurn } as unknown as AgentSession;
  const signal = new AbortController().signal;
  await expect(writePlan(session, "Mend src", { signal })).rejects.toThrow(message);
});
