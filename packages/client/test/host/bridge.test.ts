import { Code } from "@connectrpc/connect";
import { sha256Hex } from "@gennai/protocol/digest";
import { CommandState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ConfirmationAnswer, ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import type { ConfirmationReply, Editor } from "#connection/editor";
import { Bridge, type BridgeProblem } from "#host/bridge";
import { clientOf, event, FakeInbox } from "../fake-service.ts";

const actionJson = '{"tool":"Write"}';
const question = (more: object = {}) => ({
  case: "confirmationRequest" as const,
  value: {
    requestId: "q1",
    actionJson,
    actionSha256: sha256Hex(actionJson),
    offeredScopes: [ConfirmationScope.ONCE, ConfirmationScope.TURN],
    ownerEpoch: 4n,
    ...more,
  },
});
const command = (requestId = "r1") => ({
  case: "executeCommandRequest" as const,
  value: { requestId, command: "npm test", cwd: "/w", ownerEpoch: 4n },
});
const resolvedEvent = (seq: number, requestId: string) =>
  event(seq, { case: "clientRequestResolved", value: { requestId } });

const run = { state: "exited", exitCode: 0, output: "ok\n", truncated: false, terminalId: "1" } as const;

function bridgeOf(editor: Editor, inbox = new FakeInbox()) {
  const problems: BridgeProblem[] = [];
  const bridge = new Bridge({
    client: clientOf(inbox),
    sessionId: "s1",
    clientId: "c1",
    editor,
    onProblem: (problem) => problems.push(problem),
    backOff: { first: 1, longest: 2 },
  });
  return { bridge, inbox, problems };
}

test("runs a command, streams its output in order, then answers", async () => {
  const { bridge, inbox } = bridgeOf({
    async runCommand(request, { onOutput }) {
      expect(request).toEqual({ command: "npm test", cwd: "/w", terminalName: "", reveal: undefined });
      for (const piece of ["a", "b", "c"]) onOutput(piece);
      await new Promise((resolve) => setTimeout(resolve, 10));
      onOutput("d");
      return run;
    },
  });
  bridge.handle(event(1, command()));
  await bridge.idle();
  const output = inbox.received.flatMap(({ event }) => (event.case === "commandOutput" ? [event.value.text] : []));
  expect(output.join("")).toBe("abcd");
  expect(inbox.received.at(-1)).toMatchObject({
    sessionId: "s1",
    clientId: "c1",
    ownerEpoch: 4n,
    event: {
      case: "commandDispatchResponse",
      value: { status: "SENT", state: CommandState.EXITED, exitCode: 0, output: "ok\n" },
    },
  });
});

const confirmations: readonly { name: string; reply: ConfirmationReply | Error; more?: object; wanted: object }[] = [
  {
    name: "yes for the turn",
    reply: { answer: "yes", scope: "turn" },
    wanted: { answer: ConfirmationAnswer.YES, scope: ConfirmationScope.TURN, actionSha256: sha256Hex(actionJson) },
  },
  {
    name: "yes for a scope that was not offered is nobody's",
    reply: { answer: "yes", scope: "session" },
    wanted: { answer: ConfirmationAnswer.NOBODY, reason: 'The scope "session" was not offered for this action.' },
  },
  {
    name: "no with a reason",
    reply: { answer: "no", reason: "not now" },
    wanted: { answer: ConfirmationAnswer.NO, reason: "not now" },
  },
  {
    name: "nobody there",
    reply: { answer: "nobody", reason: "no terminal" },
    wanted: { answer: ConfirmationAnswer.NOBODY, reason: "no terminal" },
  },
  {
    name: "a question that cannot be shown",
    reply: new Error("broken screen"),
    wanted: { answer: ConfirmationAnswer.NOBODY, reason: "broken screen" },
  },
  {
    name: "a digest of something else is never approved",
    reply: { answer: "yes", scope: "once" },
    more: { actionSha256: sha256Hex("another") },
    wanted: { answer: ConfirmationAnswer.NOBODY },
  },
];

test.each(confirmations)("confirmation: $name", async ({ reply, more, wanted }) => {
  const { bridge, inbox } = bridgeOf({
    confirm: () => (reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply)),
  });
  bridge.handle(event(1, question(more)));
  await bridge.idle();
  expect(inbox.received).toHaveLength(1);
  expect(inbox.received[0]?.event.value).toMatchObject(wanted);
});

test("what the editor cannot do becomes an answer that says so", async () => {
  const { bridge, inbox } = bridgeOf({
    runCommand: () => Promise.reject(new Error("no shell")),
    readFile: () => Promise.reject(new Error("no such file")),
  });
  bridge.handle(event(1, command()));
  bridge.handle(event(2, { case: "requestFileRead", value: { requestId: "r2", path: "a.ts" } }));
  await bridge.idle();
  expect(inbox.received.map(({ event }) => event.value)).toMatchObject([
    { requestId: "r1", status: "ERROR", error: "no shell" },
    { requestId: "r2", path: "a.ts", error: "no such file" },
  ]);
});

const counts: readonly { name: string; feed: (bridge: Bridge) => void; runs: number }[] = [
  {
    name: "a request that comes twice",
    feed: (bridge) => [1, 2].forEach((seq) => bridge.handle(event(seq, command()))),
    runs: 1,
  },
  {
    name: "a request that was answered",
    feed: (bridge) => bridge.handle(event(1, command(), { resolved: true })),
    runs: 0,
  },
  {
    name: "a replayed request whose resolution follows",
    feed: (bridge) => {
      bridge.handle(event(1, command(), { age: 60_000 }));
      bridge.handle(resolvedEvent(2, "r1"));
    },
    runs: 0,
  },
  {
    name: "a replayed request that is open",
    feed: (bridge) => bridge.handle(event(1, command(), { age: 60_000 })),
    runs: 1,
  },
  {
    name: "a request for what the editor does not offer",
    feed: (bridge) => bridge.handle(event(1, question())),
    runs: 0,
  },
];

test.each(counts)("runs what is open, once: $name", async ({ feed, runs }) => {
  let count = 0;
  const { bridge } = bridgeOf({ runCommand: async () => (count++, run) });
  feed(bridge);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await bridge.idle();
  expect(count).toBe(runs);
});

test("answers several at a time, and stops asking when another client answered", async () => {
  const aborted: string[] = [];
  const { bridge, inbox, problems } = bridgeOf({
    runCommand: async () => run,
    confirm: (asked, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(asked.requestId);
          reject(signal.reason);
        });
      }),
  });
  bridge.handle(event(1, question()));
  bridge.handle(event(2, command()));
  await expect.poll(() => inbox.received.length).toBe(1);
  bridge.handle(resolvedEvent(3, "q1"));
  await bridge.idle();
  expect(aborted).toEqual(["q1"]);
  expect(inbox.received).toHaveLength(1);
  expect(problems).toEqual([]);
});

const submissions: readonly { name: string; answers: readonly (Code | "OK")[]; received: number; problems: number }[] =
  [
    {
      name: "repeats it when the way broke",
      answers: [Code.Unavailable, Code.Unavailable, "OK"],
      received: 1,
      problems: 0,
    },
    { name: "is content when somebody was faster", answers: [Code.AlreadyExists], received: 0, problems: 0 },
    { name: "is content when the request is over", answers: [Code.FailedPrecondition], received: 0, problems: 0 },
    { name: "reports what the server would not take", answers: [Code.InvalidArgument], received: 0, problems: 1 },
  ];

test.each(submissions)("an answer: $name", async (row) => {
  const { bridge, inbox, problems } = bridgeOf({ runCommand: async () => run }, new FakeInbox(row.answers));
  bridge.handle(event(1, command()));
  await bridge.idle();
  expect({ received: inbox.received.length, problems: problems.length }).toEqual({
    received: row.received,
    problems: row.problems,
  });
});

test("disposing aborts what is open", async () => {
  let aborted = false;
  const { bridge, inbox } = bridgeOf({
    runCommand: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(signal.reason);
        });
      }),
  });
  bridge.handle(event(1, command()));
  await bridge[Symbol.asyncDispose]();
  expect({ aborted, received: inbox.received.length }).toEqual({ aborted: true, received: 0 });
});
