import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Conversation } from "../../src/conversation/conversation.ts";
import type { LoggedEvent, SessionEvent, TurnState } from "../../src/events/session-event.ts";
import { userMessage } from "../user-message.ts";

const user = (text: string): SessionEvent => userMessage(text, { scenario: "CODE", clientTurnId: text });
const call = (id: string, name = "Read"): SessionEvent => ({
  type: "tool-call",
  id,
  name,
  argumentsJson: `{"of":"${id}"}`,
});
const answered = (id: string, output: string, error?: string): SessionEvent => ({
  type: "tool-result",
  id,
  name: "Read",
  output,
  truncated: false,
  verification: "unverified",
  observed: [],
  ...(error === undefined ? {} : { error, failureClass: "permission_denied" }),
});
const large = (id: string): SessionEvent => ({
  type: "tool-result",
  id,
  name: "Read",
  output: "begin".repeat(800),
  truncated: false,
  verification: "unverified",
  observed: [],
  outputBlob: { sha256: id, size: 1, mediaType: "text/plain" },
});
const compacted = (stage: "outputs" | "summary", dropped: number, room = 1e5): SessionEvent => ({
  type: "compacted",
  stage,
  reason: "limit",
  dropped,
  kept: 0,
  summary: stage === "summary" ? "told" : "",
  room,
  tokensBefore: 100,
  tokensAfter: 10,
});

function fold(events: readonly SessionEvent[]): Conversation {
  const conversation = new Conversation();
  for (const [index, event] of events.entries()) conversation.apply(logged(event, index));
  return conversation;
}

function logged(event: SessionEvent, index: number): LoggedEvent {
  return { seq: index + 1, turnId: "t", itemId: "", time: 0, event };
}

const roles = (conversation: Conversation) => conversation.messages.map(({ role }) => role);

test("tools that the model asked for stay wanted in their order, also when older messages were replaced", () => {
  const load = (argumentsJson: string): SessionEvent => ({
    type: "tool-call",
    id: argumentsJson,
    name: "LoadTools",
    argumentsJson,
  });
  const { wantedTools } = fold([
    user("one"),
    load('{"names":["b","a"]}'),
    call("c1"),
    load('{"search":"names"}'),
    load('{"names":"c"}'),
    load("no JSON"),
    { ...load('{"names":["d"]}'), parentToolCallId: "c1" },
    load('{"names":["a","e"]}'),
    user("two"),
    compacted("summary", 2),
  ]);
  expect([...wantedTools]).toEqual(["b", "a", "e"]);
});

test("old messages become one that holds the user's words and every refusal; the last ones stay", () => {
  const denial = JSON.stringify({
    error: { code: "user_denied", message: "User denied execution: ask Ann", rule: "commands/ask" },
  });
  const conversation = fold([
    user("mend it; never touch vendor"),
    { type: "text-delta", text: "I look." },
    call("c1"),
    answered("c1", denial, "User denied execution: ask Ann"),
    { type: "text-delta", text: "Well." },
    user("go on"),
    call("c2"),
    answered("c2", "fine"),
    compacted("summary", 4),
  ]);
  expect(roles(conversation)).toEqual(["note", "user", "assistant", "tool"]);
  const [first] = conversation.messages;
  const text = first?.role === "note" ? first.text : "";
  expect(text).toContain("mend it; never touch vendor");
  expect(text).toContain('Read {"of":"c1"}: commands/ask: User denied execution: ask Ann');
  expect(text).toContain("told");
  expect(text).not.toContain("- go on");
  expect(conversation.tokens(1_000)).toBe(10);
});

test("where there is little room less is told, and still every refusal", () => {
  const events: SessionEvent[] = [user("first of all: never push")];
  for (let index = 0; index < 150; index++) {
    events.push(
      call(`c${index}`),
      answered(`c${index}`, "{}", `no ${index}`),
      user(`request ${index} ${"x".repeat(500)}`),
    );
  }
  const text = (room: number) => JSON.stringify(fold([...events, compacted("summary", 451, room)]).messages);
  expect(text(1e6)).toContain("no 149");
  const short = text(5_000);
  expect(short.length).toBeLessThan(8_000);
  for (const part of ["first of all: never push", "no 149", "140 older refusals", "request 149"])
    expect(short).toContain(part);
});

test("a sub-agent's events are no part of it, and its refusals are kept", () => {
  const nested = (event: SessionEvent): SessionEvent => ({ ...event, parentToolCallId: "c1" });
  const conversation = fold([
    user("do it"),
    call("c1", "Task"),
    nested(call("n1", "Write")),
    nested(answered("n1", "{}", "not there")),
    answered("c1", "report"),
    compacted("summary", 3),
  ]);
  expect(roles(conversation)).toEqual(["note"]);
  expect(JSON.stringify(conversation.messages)).toContain("Write");
  expect(conversation.hasCall("n1")).toBe(true);
});

test("what is fetched later is left out all the same, and a note stands behind what is fetched", async () => {
  const conversation = fold([
    ...[user("go"), call("a"), large("a"), call("b"), large("b")],
    { type: "call-note", toolCallId: "b", text: "seen before" },
    compacted("outputs", 3),
  ]);
  await conversation.fill(async (sha256) => new TextEncoder().encode(`whole ${sha256}`));
  const outputs = conversation.messages.flatMap((message) => (message.role === "tool" ? [message.output] : []));
  expect(outputs).toEqual([expect.stringContaining("left out"), "whole b\n\n[seen before]"]);
});

test.each<readonly [string, readonly SessionEvent[], string]>([
  ["its result", [answered("a", "done")], "done\n\n[cut off]"],
  [
    "a turn that goes on",
    [{ type: "status", state: "interrupted", iteration: 0 }, answered("a", "late")],
    "late\n\n[cut off]",
  ],
  ["a large result", [large("a")], "whole a\n\n[cut off]"],
])("a note of a call that has no result yet stands behind %s", async (_case, then, wanted) => {
  const conversation = fold([user("go"), call("a"), { type: "call-note", toolCallId: "a", text: "cut off" }, ...then]);
  await conversation.fill(async (sha256) => new TextEncoder().encode(`whole ${sha256}`));
  expect(conversation.messages.flatMap((message) => (message.role === "tool" ? [message.output] : []))).toEqual([
    wanted,
  ]);
});

test("a note of a call that never ran stands behind what is said of that", () => {
  const conversation = fold([
    user("go"),
    call("a"),
    { type: "call-note", toolCallId: "a", text: "cut off" },
    user("else"),
  ]);
  const tool = conversation.messages.find(({ role }) => role === "tool");
  expect(tool).toMatchObject({ output: expect.stringMatching(/did not run[^]*\n\n\[cut off\]$/) });
});

test("images that a prompt mentions come behind those that were sent with it", async () => {
  const image = (sha256: string) => ({ sha256, size: 1, mediaType: "image/png" });
  const said = { type: "user-message", text: "go", scenario: "", clientTurnId: "", enableThinking: true } as const;
  const conversation = fold([
    { ...said, images: [image("sent")] },
    { type: "context-added", items: [], text: "about it", images: [image("meant")], observed: [] },
  ]);
  await conversation.fill(async (sha256) => new TextEncoder().encode(sha256));
  const images = ["sent", "meant"].map((text) => new TextEncoder().encode(text));
  expect(conversation.messages).toEqual([{ role: "user", text: "go", attached: "about it", images }]);
});

test("images are shown behind their result; a compaction leaves them out, fetched or not, and a purge is told", async () => {
  const shown = (id: string): SessionEvent => ({
    type: "tool-result",
    id,
    name: "Read",
    output: id,
    truncated: false,
    verification: "unverified",
    observed: [],
    images: [{ sha256: id, size: 1, mediaType: "image/png" }],
  });
  const events = [user("go"), call("a"), shown("a"), call("b"), shown("b"), call("gone"), shown("gone")];
  const read = async (sha256: string) => (sha256 === "gone" ? undefined : new TextEncoder().encode(sha256));
  const last = { role: "tool", name: "Read", isError: false } as const;
  const left = { ...last, id: "a", output: expect.stringContaining("left out") };
  const results = [
    { ...last, id: "b", output: "b\n\n[seen]", images: [new TextEncoder().encode("b")] },
    { ...last, id: "gone", output: expect.stringContaining("no longer stored"), images: [] },
  ];
  const tools = ({ messages }: Conversation) => messages.filter(({ role }) => role === "tool");
  const note: SessionEvent = { type: "call-note", toolCallId: "b", text: "seen" };

  const restarted = fold([...events, note, compacted("outputs", 3)]);
  await restarted.fill(read);
  expect(tools(restarted)).toEqual([left, ...results]);

  const running = fold([...events, note]);
  await running.fill(read);
  expect(running.tokens(0)).toBeGreaterThan(3_000);
  running.apply(logged(compacted("outputs", 3), 20));
  expect(tools(running)).toEqual([left, ...results]);
});

test("wherever it is cut, no result is without its call and no call without its result", () => {
  const step = fc.constantFrom(
    "user",
    "call",
    "calls",
    "review",
    "open",
    "late",
    "dropped",
    "note",
    "compact",
    "outputs",
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const conversation = new Conversation();
      const log: LoggedEvent[] = [];
      const add = (event: SessionEvent) => {
        const one = logged(event, log.length);
        log.push(one);
        conversation.apply(one);
      };
      for (const [index, kind] of steps.entries()) {
        const starts = conversation.messages.flatMap(({ role }, at) => (role === "tool" ? [] : [at]));
        if (kind === "user") add(user(`u${index}`));
        else if (kind === "call" || kind === "calls") {
          add({ type: "status", state: "thinking", iteration: 1 });
          const ids = kind === "call" ? [`${index}`] : [`${index}a`, `${index}b`];
          for (const id of ids) add(call(id));
          for (const id of ids) add(answered(id, "x".repeat(index * 200)));
        } else if (kind === "review") add(byUser["review"] ?? user("none"));
        else if (kind === "open") add(call(`${index}o`));
        else if (kind === "late") add(answered(`${index - 2}o`, "ok"));
        else if (kind === "dropped") add({ type: "answer-dropped", reason: "" });
        else if (kind === "note") add({ type: "call-note", toolCallId: `${index - 1}`, text: "note" });
        else if (kind === "compact" && starts.length > 1) add(compacted("summary", starts.at(-1) ?? 0));
        else if (kind === "outputs") add(compacted("outputs", conversation.messages.length));
      }
      add(user("last"));
      const open = new Set<string>();
      for (const message of conversation.messages) {
        // Providers take results only right behind their calls.
        if (message.role !== "tool") expect(open.size).toBe(0);
        if (message.role === "assistant") for (const { id } of message.toolCalls) open.add(id);
        if (message.role === "tool") expect(open.delete(message.id)).toBe(true);
      }
      expect(open.size).toBe(0);
      // The log alone gives the same again.
      const again = new Conversation();
      for (const one of log) again.apply(one);
      expect(again.messages).toEqual(conversation.messages);
    }),
    { examples: [[["calls", "calls", "compact", "dropped"]], [["open", "open", "late", "open"]]] },
  );
});

const status = (state: TurnState, toolCallId?: string): SessionEvent => ({
  type: "status",
  state,
  iteration: 1,
  ...(toolCallId === undefined ? {} : { toolCallId }),
});
const byUser: Readonly<Record<string, SessionEvent>> = {
  review: { type: "proposal-review", review: { proposalId: "p", hunks: [], note: "well done" } },
  undo: { type: "change-set-undone", changeSetId: "t", files: [] },
  restore: { type: "checkpoint-restored", checkpointId: "k", restoreId: "r", files: [], skipped: [] },
};

describe.each(Object.entries(byUser))("what the user does meanwhile: %s", (_name, done) => {
  test("waits for the results of running calls", () => {
    const running = [user("go"), status("thinking"), call("a"), call("b"), status("waiting-tool-result")];
    const conversation = fold([...running, status("run-tool", "a"), done, answered("a", "ok"), answered("b", "ok")]);
    expect(roles(conversation)).toEqual(["user", "assistant", "tool", "tool", "note"]);
    expect(JSON.stringify(conversation.messages)).not.toContain("interrupted");
  });

  test("does not part an answer, and stands behind it", () => {
    const half: SessionEvent[] = [user("go"), status("thinking"), { type: "text-delta", text: "One " }, done];
    const answering = fold(half);
    expect(roles(answering)).toEqual(["user", "assistant"]);
    const ended = fold([...half, { type: "text-delta", text: "answer." }, status("completed")]);
    expect(ended.messages).toMatchObject([{ role: "user" }, { text: "One answer." }, { role: "note" }]);
    expect(roles(fold([...half, status("cancelled"), user("next")]))).toEqual(["user", "assistant", "note", "user"]);
    const again = fold([...half, { type: "answer-dropped", reason: "" }, { type: "text-delta", text: "Whole." }]);
    expect(again.messages).toMatchObject([{ role: "user" }, { text: "Whole." }]);
    expect(roles(fold([...half, status("thinking")]))).toEqual(["user", "assistant", "note"]);
  });

  test("comes behind the words on a call that a dead turn left open", () => {
    const conversation = fold([user("go"), call("a"), done, user("next"), answered("a", "too late")]);
    expect(roles(conversation)).toEqual(["user", "assistant", "tool", "note", "user"]);
    expect(conversation.messages[2]).toMatchObject({ id: "a", isError: true });
  });
});

test("a call that never began is said not to have run; of one that began nobody knows", () => {
  const calls = [user("go"), status("thinking"), call("a"), call("b"), status("waiting-tool-result")];
  const { messages } = fold([...calls, status("run-tool", "a"), status("interrupted"), user("next")]);
  expect(messages[2]).toMatchObject({ id: "a", output: expect.stringContaining("not known") });
  expect(messages[3]).toMatchObject({ id: "b", output: expect.stringContaining("did not run") });
});

test("half an answer of a server that went away is dropped, a whole one stays", () => {
  const half: SessionEvent[] = [user("go"), status("thinking"), { type: "text-delta", text: "half" }, call("a")];
  expect(roles(fold([...half, status("interrupted"), user("next")]))).toEqual(["user", "user"]);
  const whole = [...half, status("waiting-tool-result"), status("interrupted"), user("next")];
  expect(roles(fold(whole))).toEqual(["user", "assistant", "tool", "user"]);
});
