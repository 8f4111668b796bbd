import { Code, ConnectError } from "@connectrpc/connect";
import type { ApplyProposalRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { HunkDecision, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import type { Editor } from "#connection/editor";
import { AgentSession } from "#session/agent-session";
import { clientOf, event, FakeInbox, FakeStreams, text } from "../fake-service.ts";

const identity = { clientId: "c1", name: "test", version: "0" };
const { signal } = new AbortController();

async function sessionOf(methods: Parameters<typeof clientOf>[0], editor: Editor = {}) {
  const client = clientOf({ startSession: () => ({ sessionId: "s1", workingDir: "/w", settings: {} }), ...methods });
  return AgentSession.start(client, { ...identity, editor }, { editingMode: "branch" }, { interactive: true, signal });
}

test("repeats a start whose answer was lost under the same id", async () => {
  const ids: string[] = [];
  const session = await sessionOf({
    startTurn(request) {
      ids.push(request.clientTurnId);
      if (ids.length < 3) throw new ConnectError("gone", Code.Unavailable);
      return { turnId: "t1", afterSeq: 5n, alreadyStarted: true };
    },
  });
  expect(await session.startTurn({ text: "go" }, { signal })).toEqual({ turnId: "t1", afterSeq: 5n });
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toMatch(/^.{1,128}$/);
});

test("follows a turn and answers its requests", async () => {
  const streams = new FakeStreams([
    {
      events: [
        text(1),
        event(2, { case: "executeCommandRequest", value: { requestId: "r1", command: "ls" } }),
        event(3, { case: "status", value: { state: InvokeState.COMPLETED } }),
      ],
      end: "normally",
    },
  ]);
  const inbox = new FakeInbox();
  const runCommand = async () =>
    ({ state: "exited", exitCode: 0, output: "", truncated: false, terminalId: "" }) as const;
  const session = await sessionOf(
    { subscribe: streams.subscribe, submitClientEvent: inbox.submitClientEvent },
    { runCommand },
  );
  const seen: number[] = [];
  for await (const one of session.follow({ afterSeq: 0n, untilTurnId: "t1", signal })) {
    if (one.seq === 3n) await expect.poll(() => inbox.received.length).toBe(1);
    seen.push(Number(one.seq));
  }
  expect(seen).toEqual([1, 2, 3]);
  expect(streams.requests[0]?.client?.capabilities).toMatchObject({
    executeCommand: true,
    fileRead: false,
    confirmation: false,
  });
});

test("sends decisions hunk by hunk", async () => {
  const inbox = new FakeInbox();
  const session = await sessionOf(inbox);
  const hunks = [
    { changeId: "c1", hunkId: "h1", decision: { type: "keep" } },
    { changeId: "c1", hunkId: "h2", decision: { type: "edited", text: "x", note: "rather so" } },
  ] as const;
  await session.submitReview({ proposalId: "p1", hunks, note: "fine" }, { signal });
  expect(inbox.received[0]?.event).toMatchObject({
    case: "proposalReview",
    value: {
      proposalId: "p1",
      note: "fine",
      hunks: [
        { hunkId: "h1", decision: HunkDecision.KEEP },
        { hunkId: "h2", decision: HunkDecision.EDITED, editedText: "x", note: "rather so" },
      ],
    },
  });
});

test("attaches before it starts a turn, and shows this turn alone", async () => {
  const order: string[] = [];
  const earlier = event(1, { case: "sessionStarted", value: {} });
  const session = await sessionOf({
    async *subscribe(_request, { signal: gone }) {
      order.push("subscribed");
      yield event(0, { case: "heartbeat", value: {} });
      yield earlier;
      await expect.poll(() => order).toContain("started");
      yield text(2);
      yield event(3, { case: "status", value: { state: InvokeState.COMPLETED } });
      await new Promise((resolve) => gone.addEventListener("abort", resolve, { once: true }));
    },
    startTurn() {
      order.push("started");
      return { turnId: "t1", afterSeq: 1n };
    },
  });
  const seen: number[] = [];
  for await (const one of session.runTurn({ text: "go" }, { signal })) seen.push(Number(one.seq));
  expect({ order, seen, lastSeq: session.lastSeq }).toEqual({
    order: ["subscribed", "started"],
    seen: [2, 3],
    lastSeq: 3n,
  });
});

test("a turn that cannot start is an error, and leaves no stream behind", async () => {
  const streams = new FakeStreams([{ events: [text(1)], end: "silently" }]);
  const session = await sessionOf({
    subscribe: streams.subscribe,
    startTurn() {
      throw new ConnectError("busy", Code.FailedPrecondition);
    },
  });
  const events = session.runTurn({ text: "go" }, { signal });
  await expect(events.next()).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect.poll(() => streams.aborted).toEqual([0]);
});

test("a review whose answer was lost counts once", async () => {
  const session = await sessionOf(new FakeInbox([Code.Unavailable, Code.AlreadyExists]));
  await session.submitReview({ proposalId: "p1", hunks: [], note: "" }, { signal });
  const refused = await sessionOf(new FakeInbox([Code.AlreadyExists]));
  await expect(refused.submitReview({ proposalId: "p1", hunks: [], note: "" }, { signal })).rejects.toMatchObject({
    code: Code.AlreadyExists,
  });
});

test("has the server apply a review, and asks again with the same decisions when the answer was lost", async () => {
  const requests: ApplyProposalRequest[] = [];
  const session = await sessionOf({
    applyProposal(request) {
      requests.push(request);
      if (requests.length < 2) throw new ConnectError("gone", Code.Unavailable);
      return { changeSetId: "set", files: [{ path: "a.ts", afterSha256: "f".repeat(64) }], alreadyApplied: true };
    },
  });
  const review = {
    proposalId: "p1",
    note: "good",
    hunks: [{ changeId: "c1", hunkId: "h1", decision: { type: "edited", text: "new\n", note: "so" } as const }],
    changes: [{ path: "a.ts", baseSha256: "e".repeat(64) }],
  };
  expect(await session.applyProposal(review, { signal })).toMatchObject({
    changeSetId: "set",
    files: [{ path: "a.ts", beforeSha256: undefined, afterSha256: "f".repeat(64) }],
  });
  expect(requests).toHaveLength(2);
  expect(requests[1]).toEqual(requests[0]);
  expect(requests[0]).toMatchObject({
    sessionId: "s1",
    hunks: [{ changeId: "c1", hunkId: "h1", decision: HunkDecision.EDITED, editedText: "new\n", note: "so" }],
    expectedBases: [{ path: "a.ts", sha256: "e".repeat(64) }],
  });
});
