import { EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { HunkDecision } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import { endState, eventOf, runTurn, startSession, Watcher } from "../../e2e/rpc/session-client.ts";
import { call, list, wireWorld } from "../wire-world.ts";

const changes = [{ path: "a.txt", operation: "update", new_content: "2\n" }];

test("a review while a call waits for a yes comes behind that call's one result, in all later requests", async () => {
  await using world = await wireWorld(
    "openai-compatible",
    [
      { calls: [call("c1", "ProposeChanges", { changes })] },
      { text: ["Proposed."] },
      { calls: [call("c2", "Bash", { command: "touch made" })] },
      { text: ["Done."] },
      { text: ["Bye."] },
    ],
    { files: { "a.txt": "1\n" }, server: { confirmation: { answerMs: 20_000, waitForClientMs: 20_000 } } },
  );
  const { client } = world.server;
  const sessionId = await startSession(world.server, { proposal: true, interactive: true });
  const { proposalId, changes: proposed } = eventOf(await runTurn(world.server, sessionId, "go"), "proposedChanges");

  // Outside of Proposal Mode, commands ask.
  await client.setSettings({ sessionId, settings: { editingMode: EditingMode.BRANCH } });
  await using editor = await Watcher.attach(world.server, sessionId, { capabilities: { confirmation: true } });
  const turn = runTurn(world.server, sessionId, "on");
  const question = await editor.next("confirmationRequest");
  const hunks = [{ changeId: proposed[0]?.id ?? "", decision: HunkDecision.UNDO }];
  await client.submitClientEvent({
    sessionId,
    event: { case: "proposalReview", value: { proposalId, hunks, note: "Not like that." } },
  });
  await editor.answer(question, { answer: ConfirmationAnswer.NO });
  expect(endState(await turn)).toBe("COMPLETED");
  await runTurn(world.server, sessionId, "bye");

  for (const { body } of world.provider.requests.slice(3)) {
    const sent = list(body["messages"]).map((message) => JSON.stringify(message));
    const results = sent.filter((message) => message.includes('"tool_call_id":"c2"'));
    expect(results).toHaveLength(1);
    expect(results[0]).not.toContain("interrupted");
    const at = sent.findIndex((message) => message.includes('"tool_calls"') && message.includes('"c2"'));
    expect(sent[at + 1]).toBe(results[0]);
    expect(sent[at + 2]).toContain("Not like that.");
  }
});
