import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import type { ReplLaunch, ToApp, ToHost } from "@gennai/client/host/host-messages";
import type { AnsweredRequests } from "@gennai/client/host/window-requests";
import { AgentService, SubscribeRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { describe, expect, it } from "vitest";
import { HostedRepl } from "../../src/repl/hosted-repl.ts";

const settings = {
  showThinking: false,
  backend: "",
  model: "",
  modelUrl: "",
  editingMode: "branch",
  scenario: "",
} as const;
const launch: ReplLaunch = {
  clientId: "c",
  clientName: "test",
  version: "1",
  workspace: "/w",
  sessionId: undefined,
  state: null,
  settings,
};

function open(actions: Partial<AnsweredRequests> = {}, transport = createRouterTransport(() => undefined)) {
  const posted: ToApp[] = [];
  const problems: string[] = [];
  const saved: unknown[] = [];
  const reviews: unknown[] = [];
  const sessions: string[] = [];
  let listener: (message: unknown) => void = () => undefined;
  const refuse = async () => {
    throw new Error("not here");
  };
  const all: AnsweredRequests = {
    applyProposal: refuse,
    revertChangeSet: refuse,
    openFile: refuse,
    openRule: refuse,
    openDiff: refuse,
    openText: refuse,
    watchCall: refuse,
    openChange: refuse,
    editorContext: refuse,
    namesOfDropped: refuse,
    keepModel: refuse,
    keepModelKey: refuse,
    listEditorModels: refuse,
    tryEditorModel: refuse,
    runHostCommand: refuse,
    ...actions,
  };
  const host = new HostedRepl({
    webview: {
      post: (message) => void posted.push(message),
      listen: (given) => {
        listener = given;
        return () => {
          listener = () => undefined;
        };
      },
    },
    transport,
    actions: all,
    launch: async () => launch,
    saveState: (state) => void saved.push(state),
    saveReview: (state) => void reviews.push(state),
    showsSession: (sessionId) => void sessions.push(sessionId),
    onProblem: (what) => void problems.push(what),
  });
  const send = async (message: ToHost | object) => {
    listener(message);
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { host, posted, problems, saved, reviews, sessions, send };
}

describe("HostedRepl", () => {
  it("says what to begin with, then what was said before", async () => {
    const { host, posted, send } = open();
    host.notify({ type: "show-panel", panel: "plan" });
    expect(posted).toEqual([]);
    await send({ type: "ready" });
    expect(posted.map(({ type }) => type)).toEqual(["launch", "notice"]);
  });

  it.each([
    { type: "unknown" },
    { type: "request", id: 1, sessionId: "", wanted: "toString", asked: "workbench.action.terminal.new" },
    { type: "request", id: 1, sessionId: "", wanted: "openFile", asked: { path: "a" }, extra: 1 },
    { type: "call", id: -1, service: "s", method: "m", message: new Uint8Array() },
    { type: "call", id: 1, service: "s", method: "m", message: "text" },
    "ready",
    null,
  ])("drops what is not a message: %j", async (message) => {
    const { posted, problems, send } = open();
    await send(Object(message) === message ? Object(message) : { message });
    expect({ posted, problems: problems.length }).toEqual({ posted: [], problems: 1 });
  });

  it("answers a request, and tells why it failed", async () => {
    const { posted, send } = open({ openFile: async () => undefined });
    await send({ type: "request", id: 1, sessionId: "", wanted: "openFile", asked: { path: "a.ts", line: 3 } });
    await send({ type: "request", id: 2, sessionId: "", wanted: "editorContext" });
    expect(posted).toEqual([
      { type: "answer", id: 1, value: null },
      { type: "answer", id: 2, value: null, error: "not here" },
    ]);
  });

  it.each([
    ["runHostCommand", "workbench.action.terminal.new"],
    ["openFile", { path: "a", extra: 1 }],
    ["editorContext", 1],
  ])("refuses %s with what it does not take", async (wanted, asked) => {
    const { posted, send } = open({ runHostCommand: async () => undefined, openFile: async () => undefined });
    await send({ type: "request", id: 1, sessionId: "", wanted, asked });
    expect(posted).toMatchObject([
      { type: "answer", id: 1, error: expect.stringMatching(/Invalid|Unrecognized/) as string },
    ]);
  });

  it("takes what was decided in the app, and tells what was decided elsewhere", async () => {
    const { host, posted, reviews, problems, send } = open();
    const review = { proposalId: "p", decisions: { a: { 1: { type: "keep" } } }, note: "", layout: "auto" };
    await send({ type: "ready" });
    await send({ type: "save-review", state: review });
    host.notify({ type: "review", state: review });
    expect({ reviews, problems, last: posted.at(-1) }).toEqual({
      reviews: [review],
      problems: [],
      last: { type: "notice", notice: { type: "review", state: review } },
    });
  });

  it("keeps the state, unless it is too large", async () => {
    const { saved, problems, send } = open();
    await send({ type: "save-state", state: { draft: "a" } });
    await send({ type: "save-state", state: "a".repeat(70_000) });
    expect({ saved, problems: problems.length }).toEqual({ saved: [{ draft: "a" }], problems: 1 });
  });

  it("calls no method that is not in the protocol", async () => {
    const { posted, send } = open();
    await send({ type: "call", id: 7, service: "evil.Service", method: "Run", message: new Uint8Array() });
    expect(posted).toMatchObject([{ type: "end", id: 7, error: { message: "There is no such call for a view." } }]);
  });

  it("sends no more byte arrays at once than VS Code carries, and all of them in order", async () => {
    const transport = createRouterTransport(({ service }) => {
      service(AgentService, {
        async *subscribe() {
          for (let seq = 1n; seq <= 200n; seq += 1n) yield { seq };
        },
      });
    });
    const { posted, send } = open({}, transport);
    const message = toBinary(SubscribeRequestSchema, create(SubscribeRequestSchema, { sessionId: "s" }));
    await send({ type: "call", id: 1, service: AgentService.typeName, method: "Subscribe", message });
    await expect.poll(() => posted.at(-1)?.type).toBe("end");
    const batches = posted.flatMap((post) => (post.type === "messages" ? [post.messages] : []));
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(128);
    const seqs = batches.flat().map((bytes) => Number(fromBinary(InvokeEventSchema, bytes).seq));
    expect(seqs).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  it("says and hears nothing once it is disposed", async () => {
    const { host, posted, sessions, send } = open();
    host[Symbol.dispose]();
    await send({ type: "ready" });
    await send({ type: "shows-session", sessionId: "s" });
    expect({ posted, sessions }).toEqual({ posted: [], sessions: [] });
  });
});
