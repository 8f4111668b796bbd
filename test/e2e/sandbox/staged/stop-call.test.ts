import { existsSync, readFileSync } from "node:fs";
import { processesRunning } from "@gennai/testkit/processes";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";
import { startSession } from "../../rpc/session-client.ts";

test("one command is stopped: it is gone, nothing of it is kept, and the turn goes on", async () => {
  const seconds = 86_517;
  await using server = await startTestServer({
    steps: [
      bash(`echo started | tee early.txt; sleep ${seconds} & sleep ${seconds}; echo > late.txt`),
      bash("echo next > next.txt"),
      { text: ["Done."] },
    ],
    server: { commands: "staged" },
  });
  const sessionId = await startSession(server);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "stopped" });
  const results: string[] = [];
  let outcome: string | undefined;
  for await (const { event } of server.client.subscribe({ sessionId, untilTurnId: turnId })) {
    if (event.case === "toolOutputDelta" && event.value.text.includes("started")) {
      await vi.waitFor(() => expect(processesRunning(`sleep ${seconds}`)).toHaveLength(2), 10_000);
      const call = { sessionId, turnId, toolCallId: event.value.id };
      expect(await server.client.stopToolCall({ ...call, turnId: "another" })).toMatchObject({ wasRunning: false });
      expect(await server.client.stopToolCall(call)).toMatchObject({ wasRunning: true });
      expect(processesRunning(`sleep ${seconds}`)).toHaveLength(0);
      expect(await server.client.stopToolCall(call)).toMatchObject({ wasRunning: false });
    }
    if (event.case === "toolResult") results.push(event.value.error);
    if (event.case === "final") outcome = event.value.text;
  }
  expect(results).toEqual([expect.stringContaining("The user stopped this call"), ""]);
  expect(outcome).toBe("Done.");
  for (const name of ["early.txt", "late.txt"]) expect(existsSync(server.workspace.path(name))).toBe(false);
  expect(readFileSync(server.workspace.path("next.txt"), "utf8")).toBe("next\n");
});
