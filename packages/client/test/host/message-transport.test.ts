import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { AgentService, StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ErrorInfoSchema, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { describe, expect, it, vi } from "vitest";
import { CallRelay, type CallRelayOptions } from "#host/call-relay";
import { callWindow, type ToApp, type ToHost, toAppSchema, toHostSchema } from "#host/host-messages";
import { type HostPort, MessageTransport } from "#host/message-transport";

type Implementation = Partial<ServiceImpl<typeof AgentService>>;

/** An app and a host with a message channel between them: what crosses is cloned and parsed, as between frames. */
function appAndHost(methods: Implementation, check?: CallRelayOptions["check"]) {
  const transport = createRouterTransport((router) => {
    router.service(AgentService, methods);
  });
  const listeners = new Set<(message: ToApp) => void>();
  const sentToHost: ToHost[] = [];
  const toApp = (raw: unknown) => {
    const message = toAppSchema.safeParse(structuredClone(raw));
    if (message.success) queueMicrotask(() => listeners.forEach((listener) => void listener(message.data)));
  };
  let onTheWay = 0;
  const relay = new CallRelay({
    transport,
    post: (message) => {
      onTheWay++;
      toApp(message);
    },
    ...(check === undefined ? {} : { check }),
  });
  const toHost = (raw: unknown) => {
    const message = toHostSchema.safeParse(structuredClone(raw));
    if (!message.success) return false;
    sentToHost.push(message.data);
    return relay.handle(message.data);
  };
  const port: HostPort = {
    post: toHost,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const app = new MessageTransport(port);
  return { app, relay, client: createClient(AgentService, app), toApp, toHost, sentToHost, posted: () => onTheWay };
}

const warning = (text: string) => create(InvokeEventSchema, { event: { case: "warning", value: text } });

describe("calls over messages", () => {
  it("makes a unary call", async () => {
    const { client } = appAndHost({ getServerInfo: () => ({ version: "1.2.3" }) });
    expect((await client.getServerInfo({})).version).toBe("1.2.3");
  });

  it("streams ten thousand messages in order, and never runs far ahead of the reader", async () => {
    let sent = 0;
    const { client, posted } = appAndHost({
      async *subscribe() {
        for (; sent < 10_000; sent++) yield warning(`${sent}`);
      },
    });
    let received = 0;
    let furthest = 0;
    for await (const event of client.subscribe({ sessionId: "s" })) {
      expect(event.event.value).toBe(`${received}`);
      received++;
      furthest = Math.max(furthest, sent - received);
      // A reader that takes its time now and then.
      if (received % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(received).toBe(10_000);
    expect(furthest).toBeLessThanOrEqual(callWindow + 1);
    // Together, as they come.
    expect(posted()).toBeLessThan(received / 10);
  });

  it("cancels the call at the server when the app aborts", async () => {
    const ended = Promise.withResolvers<void>();
    const { client, sentToHost } = appAndHost({
      async *subscribe(_request, { signal }) {
        signal.addEventListener("abort", () => ended.resolve());
        yield warning("first");
        await ended.promise;
      },
    });
    const leaving = new AbortController();
    const events = client.subscribe({ sessionId: "s" }, { signal: leaving.signal })[Symbol.asyncIterator]();
    await events.next();
    leaving.abort();
    await expect(events.next()).rejects.toMatchObject({ code: Code.Canceled });
    await ended.promise;
    expect(sentToHost.map(({ type }) => type)).toEqual(["call", "cancel"]);
  });

  it("carries the code, metadata and details of an error", async () => {
    const { client } = appAndHost({
      getTodos() {
        throw new ConnectError("No such session.", Code.NotFound, { "x-hint": "start one" }, [
          { desc: ErrorInfoSchema, value: { code: "not_found", hint: "Start one." } },
        ]);
      },
    });
    const error = await client.getTodos({ sessionId: "s" }).catch((reason: unknown) => ConnectError.from(reason));
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: "No such session." });
    if (!(error instanceof ConnectError)) throw new Error("not a ConnectError");
    expect(error.metadata.get("x-hint")).toBe("start one");
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({ code: "not_found", hint: "Start one." });
  });

  it("fails a stream after the messages that came before the error", async () => {
    const { client } = appAndHost({
      async *subscribe() {
        yield warning("first");
        throw new ConnectError("gone", Code.Unavailable);
      },
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of client.subscribe({ sessionId: "s" })) seen.push(event.event.value);
    })();
    await expect(reading).rejects.toMatchObject({ code: Code.Unavailable });
    expect(seen).toEqual(["first"]);
  });

  it("cancels everything when the host goes, and fails everything when the app goes", async () => {
    const aborted = vi.fn<() => void>();
    const forever: Implementation = {
      async *subscribe(_request, { signal }) {
        yield warning("first");
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(aborted())));
      },
    };
    const host = appAndHost(forever);
    const first = host.client.subscribe({ sessionId: "s" })[Symbol.asyncIterator]();
    await first.next();
    host.relay[Symbol.dispose]();
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledOnce());

    const app = appAndHost(forever);
    const second = app.client.subscribe({ sessionId: "s" })[Symbol.asyncIterator]();
    await second.next();
    app.app[Symbol.dispose]();
    await expect(second.next()).rejects.toMatchObject({ code: Code.Canceled });
    await expect(app.client.getServerInfo({})).rejects.toMatchObject({ code: Code.Canceled });
  });

  it("lets the host look at a call first", async () => {
    const { client } = appAndHost({ getServerInfo: () => ({}) }, ({ method }) => {
      throw new ConnectError(`Not ${method.name}.`, Code.FailedPrecondition);
    });
    await expect(client.getServerInfo({})).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: "Not GetServerInfo.",
    });
  });
});

describe("what a view may not do", () => {
  const rows = [
    ["a service that is not there", { service: "evil.Service", method: "GetServerInfo" }],
    ["a method that is not there", { service: AgentService.typeName, method: "constructor" }],
    ["the local name of a method", { service: AgentService.typeName, method: "getServerInfo" }],
    [
      "bytes that are no request",
      { service: AgentService.typeName, method: "GetTodos", message: new Uint8Array([255]) },
    ],
  ] as const;
  it.each(rows)("%s", async (_name, fields) => {
    const posted: ToApp[] = [];
    const relay = new CallRelay({
      transport: createRouterTransport(() => undefined),
      post: (message) => posted.push(message),
    });
    relay.handle({ type: "call", id: 1, message: new Uint8Array(), ...fields });
    await vi.waitFor(() => expect(posted).toHaveLength(1));
    expect(posted[0]).toMatchObject({ type: "end", error: {} });
  });

  it("answer in the editor's place, or stop the whole server", async () => {
    const submitted = vi.fn<() => { status: string }>(() => ({ status: "OK" }));
    const stopped = vi.fn<() => { stopped: boolean }>(() => ({ stopped: true }));
    const { client } = appAndHost({ submitClientEvent: submitted, stop: stopped });
    const answer = { requestId: "r", path: "a", content: "made up" };
    await expect(
      client.submitClientEvent({ sessionId: "s", event: { case: "fileReadResponse", value: answer } }),
    ).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(client.submitClientEvent({ sessionId: "s" })).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(client.stop({ scope: StopScope.SERVER })).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(submitted).not.toHaveBeenCalled();
    expect(stopped).not.toHaveBeenCalled();
    await client.submitClientEvent({
      sessionId: "s",
      event: { case: "confirmationResponse", value: { requestId: "r" } },
    });
    expect(submitted).toHaveBeenCalledOnce();
  });

  it("open calls without end", async () => {
    const { client } = appAndHost({
      async *subscribe(_request, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield warning("");
      },
    });
    const leaving = new AbortController();
    const calls = Array.from({ length: 65 }, () =>
      client.subscribe({ sessionId: "s" }, { signal: leaving.signal })[Symbol.asyncIterator]().next(),
    );
    await expect(Promise.race(calls)).rejects.toMatchObject({ code: Code.ResourceExhausted });
    leaving.abort();
    await Promise.allSettled(calls);
  });
});

describe("messages from anybody", () => {
  const garbage: readonly unknown[] = [
    null,
    "call",
    {},
    { type: "call" },
    { type: "call", id: -1, service: "s", method: "m", message: new Uint8Array() },
    { type: "call", id: 1, service: "s", method: "m", message: "text" },
    { type: "call", id: 1, service: "s", method: "m", message: new Uint8Array(), token: "extra" },
    { type: "cancel", id: 99 },
    { type: "taken", id: 99, count: 1 },
    { type: "taken", id: 1, count: Number.NaN },
    { type: "__proto__", id: 1 },
  ];
  it.each(garbage.map((message) => [JSON.stringify(message), message]))("to the host: %s", async (_name, message) => {
    const { toHost, client } = appAndHost({ getServerInfo: () => ({ version: "1" }) });
    toHost(message);
    expect((await client.getServerInfo({})).version).toBe("1");
  });

  it("to the app", async () => {
    const { client, toApp } = appAndHost({
      async getServerInfo() {
        for (const message of [
          null,
          { type: "messages", id: 7, messages: [new Uint8Array()] },
          { type: "messages", id: 1, messages: [[1]] },
          { type: "end", id: 1, error: { code: "x" } },
          { type: "end", id: 12 },
          { type: "messages", id: 1, messages: [new Uint8Array()], more: 1 },
        ]) {
          toApp(message);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
        return { version: "1" };
      },
    });
    expect((await client.getServerInfo({})).version).toBe("1");
  });

  it("bytes that are no answer fail the call", async () => {
    const { client, toApp } = appAndHost({ getServerInfo: () => new Promise(() => undefined) });
    const call = client.getServerInfo({});
    toApp({ type: "messages", id: 1, messages: [new Uint8Array([255, 255])] });
    await expect(call).rejects.toMatchObject({ code: Code.Internal });
  });
});
