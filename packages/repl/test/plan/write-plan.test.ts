import { create } from "@bufbuild/protobuf";
import { InvokeEventSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test, vi } from "vitest";
import { type PlanWriter, writePlan } from "#plan/write-plan";

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
  [[], "The turn that should write the plan ended: error."],
])("a turn that fails with %j says so", async (said, message) => {
  failures.splice(0, failures.length, ...said);
  const client = { startTurn: async () => ({ turnId: "t", afterSeq: 0n }) } as unknown as PlanWriter["client"];
  const writer = { client, sessionId: "s", identity: { clientId: "c", name: "test", version: "1" } };
  const signal = new AbortController().signal;
  await expect(writePlan(writer, "Mend src", { signal })).rejects.toThrow(message);
});
