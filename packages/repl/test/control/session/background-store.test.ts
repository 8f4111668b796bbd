import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { BackgroundRunState, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test, vi } from "vitest";
import { BackgroundStore } from "#control/session/background-store";

/** A server with two runs, of which one has ended. */
function deskOf() {
  let state: BackgroundRunState = BackgroundRunState.RUNNING;
  const stopped: string[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      listBackgroundRuns: () => ({
        runs: [
          { id: "b1", command: "true", state: BackgroundRunState.ENDED, end: "exit code 0" },
          { id: "b2", command: "npm run dev", state, ports: [{ port: 3000, localPort: 4000 }] },
        ],
      }),
      stopBackgroundRun({ runId }) {
        if (runId !== "b2") throw new ConnectError("Nothing of this session has the id b9.", Code.NotFound);
        stopped.push(runId);
        state = BackgroundRunState.ENDED;
        return {};
      },
    });
  });
  return { store: new BackgroundStore({ client: createClient(AgentService, transport), sessionId: "s" }), stopped };
}

test("an event has the server asked what runs; a stop takes it from the list", async () => {
  const { store, stopped } = deskOf();
  store.handle([create(InvokeEventSchema, { event: { case: "sessionCleared", value: {} } })]);
  expect(store.running.value).toEqual([]);
  store.handle([create(InvokeEventSchema, { event: { case: "backgroundRunChanged", value: {} } })]);
  await vi.waitFor(() =>
    expect(store.running.value).toMatchObject([{ id: "b2", ports: [{ port: 3000, localPort: 4000 }] }]),
  );
  await store.stop("b9");
  expect(store.problem.value?.message).toBe("Nothing of this session has the id b9.");
  await store.stop("b2");
  expect(stopped).toEqual(["b2"]);
  expect(store.running.value).toEqual([]);
});
