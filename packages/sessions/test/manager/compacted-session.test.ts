import { endStates } from "@gennai/agent/events/session-event";
import { builtInScenarios } from "@gennai/agent/scenarios/built-in-scenarios";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { turnPrompt } from "#prompt/turn-prompt";
import type { Session } from "#session/session";
import { SessionState } from "#session/state/session-state";
import { compactConversation } from "#turn/compaction-turn";
import { startTurn } from "#turn/prepare-turn";
import { never, planBench, seedPlan, write } from "../plans/plan-fixture.ts";

const intents = `intents:
  - id: INT-1
    name: Mend the roof
    status: active
    owned_scope: ["src/**"]
    constraints: ["keep the tiles red"]
`;
const bad = [bash("rm -rf /"), { text: "." }];
const outside = [call("Write", { file_path: "docs/x.md", content: "x" }), { text: "." }];

async function turn(session: Session, text: string): Promise<readonly string[]> {
  const { turnId, afterSeq } = await startTurn(session, {
    text,
    scenario: "",
    enableThinking: false,
    images: [],
    clientTurnId: text,
  });
  const outputs: string[] = [];
  const stop = new AbortController();
  for await (const page of session.services.log.tail(session.id, afterSeq, { signal: stop.signal })) {
    for (const { event, turnId: of } of page) {
      if (of !== turnId) continue;
      if (event.type === "tool-result") outputs.push(event.output);
      if (event.type === "status" && endStates.has(event.state)) return outputs;
    }
  }
  return outputs;
}

test("a compaction drops no rule, no intent, no refusal and no plan", async () => {
  await using bench = await planBench({
    files: { ".orchestration/active_intents.yaml": intents, "src/a.txt": "a\n" },
    script: [
      {
        match: "^begin",
        steps: [call("select_active_intent", { intent_id: "INT-1" }), { text: "." }, ...bad, ...outside],
      },
      { match: "Summarise this conversation", steps: [{ text: "Nothing was refused, and there is no intent." }] },
      { match: "^again", steps: [...bad, ...outside] },
      { match: ".", steps: [{ text: "ok" }] },
    ],
  });
  const session = await bench.session();
  const code = builtInScenarios.get("CODE");
  if (code === undefined) throw new Error("no CODE");
  const first = await turn(session, "begin, and keep the tiles red");
  expect(first.map((output) => output.includes('"error"'))).toEqual([false, true, true]);
  const { planId, digest, token } = await bench.approved(seedPlan([{ id: "a", actions: [write("src/b.txt", "b\n")] }]));
  await turn(session, "small talk");
  const prompt = await turnPrompt(session, code);

  expect(await compactConversation(session)).toMatchObject({ stage: "summary", dropped: expect.any(Number) });
  expect(await turnPrompt(session, code)).toBe(prompt);
  expect(prompt).toContain("INT-1");
  expect(prompt).toContain("# Rules");
  const [kept] = session.state.conversation.messages;
  const text = kept?.role === "note" ? kept.text : "";
  for (const part of [
    "begin, and keep the tiles red",
    "rm -rf /",
    "docs/x.md",
    "INT-1: Mend the roof",
    planId,
    "awaiting_approval",
  ]) {
    expect(text).toContain(part);
  }
  expect(session.state.activeIntentId).toBe("INT-1");

  // What was refused is refused again, by the same rules; the plan that was approved runs.
  const again = await turn(session, "again");
  expect(again).toEqual(first.slice(1));
  const run = await bench.plans().execute(session, planId, digest, token, never);
  expect(run.steps).toMatchObject([{ id: "a", state: "executed" }]);
  expect(await bench.server.workspace.read("src/b.txt")).toBe("b\n");

  const state = new SessionState();
  for (const event of await session.services.log.read(session.id, 0, 10_000)) state.apply(event);
  expect(state.conversation.messages).toEqual(session.state.conversation.messages);
});
