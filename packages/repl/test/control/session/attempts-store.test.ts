import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentSession } from "@gennai/client/session/agent-session";
import { sha256Hex } from "@gennai/protocol/digest";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { AttemptOutcome, AttemptPhase } from "@gennai/protocol/gen/gennai/agent/v1/attempt_pb";
import { type InvokeEvent, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import { ConfirmationStore, UserQuestionStore } from "#confirmation/confirmation-store";
import { AttemptsStore } from "#control/session/attempts-store";

const offeredScopes = [ConfirmationScope.ONCE];
const changed = [create(InvokeEventSchema, { event: { case: "attemptsChanged", value: { attemptsId: "a1" } } })];

/** A server with a set of two attempts, of which the first works and asks. */
async function deskOf() {
  const phases: AttemptPhase[] = [AttemptPhase.WORKING, AttemptPhase.WAITING];
  const asked: string[] = [];
  const answered: unknown[] = [];
  let lists = 0;
  const attemptsNow = () => ({
    attemptsId: "a1",
    prompt: "do it",
    running: phases.some((phase) => phase !== AttemptPhase.ENDED),
    attempts: phases.map((phase, index) => ({
      number: index + 1,
      phase,
      sessionId: phase === AttemptPhase.WAITING ? "" : `s${index + 1}`,
      outcome: phase === AttemptPhase.ENDED ? AttemptOutcome.CANCELLED : AttemptOutcome.UNSPECIFIED,
    })),
  });
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      startSession: () => ({ sessionId: "parent" }),
      resumeSession: ({ sessionId }) => ({ session: { sessionId } }),
      listAttempts: () => {
        lists += 1;
        return { attempts: [attemptsNow()] };
      },
      stopAttempts: ({ number }) => {
        for (const [index] of phases.entries())
          if (number === 0 || number === index + 1) phases[index] = AttemptPhase.ENDED;
        return { attempts: attemptsNow() };
      },
      takeAttempt: ({ number }) => {
        if (number === 2) throw new ConnectError("Attempt 2 changed nothing.", Code.FailedPrecondition);
        return { proposalId: "p1" };
      },
      submitClientEvent: (event) => {
        answered.push([event.sessionId, event.event.case]);
        return { status: "OK" };
      },
      async *subscribe({ sessionId }, { signal }): AsyncGenerator<InvokeEvent> {
        asked.push(sessionId);
        yield create(InvokeEventSchema, { event: { case: "heartbeat", value: {} } });
        const actionSha256 = sha256Hex("{}");
        const value = { requestId: "q1", title: "Run it?", actionJson: "{}", actionSha256, offeredScopes };
        yield create(InvokeEventSchema, { event: { case: "confirmationRequest", value }, seq: 1n, firstSeq: 1n });
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
    });
  });
  const client = createClient(AgentService, transport);
  const confirmations = new ConfirmationStore();
  const { signal } = new AbortController();
  const session = await AgentSession.start(
    client,
    { clientId: "c", name: "test", version: "1", editor: { confirm: confirmations.confirm } },
    {},
    { interactive: true, signal },
  );
  const store = new AttemptsStore({
    session,
    desk: { confirmations, userQuestions: new UserQuestionStore() },
  });
  return { store, confirmations, asked, answered, lists: () => lists };
}

test("what is taken becomes a proposal; why it does not, is shown", async () => {
  const { store } = await deskOf();
  using _desk = store;
  expect(await store.take("a1", 1)).toBe("p1");
  expect(await store.take("a1", 2)).toBeUndefined();
  expect(store.state.value.problem).toMatchObject({
    action: "Taking the attempt",
    message: "Attempt 2 changed nothing.",
  });
  expect(store.state.value.busy.size).toBe(0);
});

test("events that come while it reads are read after that, once", async () => {
  const { store, lists } = await deskOf();
  using _desk = store;
  const loading = store.load();
  for (let count = 0; count < 20; count++) store.handle(changed);
  await loading;
  expect(lists()).toBe(2);
});
