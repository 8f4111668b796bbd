// @vitest-environment happy-dom
import { Code, ConnectError } from "@connectrpc/connect";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { describe, expect, it, vi } from "vitest";
import { appOn, OneSession, opened, progress } from "./one-session.ts";

/** The way breaks so that the client gives up at once. */
const broken = new ConnectError("The way broke.", Code.DataLoss);
const gone = new ConnectError("The model was told this message.", Code.AlreadyExists);
const unknown = new ConnectError("This session has no such message.", Code.NotFound);

/** A turn runs, and the answer to what is said meanwhile never arrives. */
async function lostAnswer() {
  const server = new OneSession();
  server.sessions = ["fresh"];
  const said = Promise.withResolvers<{ readonly messageId: string; readonly text: string }>();
  const withdrawn = vi.fn<(id: string) => void>();
  let refusal: ConnectError | undefined;
  let noTurn: ConnectError | undefined;
  const { startTurn } = server.methods;
  server.methods.startTurn = (request, context) => {
    if (noTurn !== undefined || startTurn === undefined) throw noTurn ?? unknown;
    return startTurn(request, context);
  };
  server.methods.queueMessage = (message) => {
    said.resolve(message);
    throw broken;
  };
  server.methods.withdrawMessage = async ({ messageId }) => {
    withdrawn(messageId);
    if (refusal !== undefined) throw refusal;
    return { text: (await said.promise).text };
  };
  const app = appOn(server);
  await opened(app.control);
  app.control.turns.send("one");
  await progress(app.control, "running");
  app.control.turns.send("two");
  const message = await said.promise;
  await vi.waitFor(() => expect(app.control.failure.value?.message).toContain("The way broke."));
  return {
    ...app,
    server,
    message,
    withdrawn,
    /** What was said so far to begin turns. */
    begun: () => server.started.map(({ userInput }) => userInput),
    refuse: (error: ConnectError) => {
      refusal = error;
    },
    refuseTurns: (error: ConnectError) => {
      noTurn = error;
    },
    tell: () => {
      server.emit({ case: "messageQueued", value: message });
      server.emit({ case: "userMessage", value: message });
    },
  };
}

const texts = (control: Awaited<ReturnType<typeof lostAnswer>>["control"]) =>
  control.turns.queue.prompts.value.map(({ text }) => text);

describe("a message that the server took, though its answer was lost", () => {
  it("is not said again after the turn", async () => {
    const { control, server, tell, begun } = await lostAnswer();
    tell();
    server.end(InvokeState.COMPLETED);
    await progress(control, "idle");
    expect(texts(control)).toEqual([]);
    control.turns.send("three");
    await vi.waitFor(() => expect(begun()).toEqual(["one", "three"]));
  });

  it("is not said again by one who has not seen that it was told", async () => {
    const { control, server, refuse, withdrawn, begun } = await lostAnswer();
    refuse(gone);
    server.end(InvokeState.COMPLETED);
    await vi.waitFor(() => expect(withdrawn).toHaveBeenCalledOnce());
    await progress(control, "idle");
    expect(texts(control)).toEqual([]);
    expect(begun()).toEqual(["one"]);
    expect(control.failure.value?.message).toBe("The prompt was not sent: The model was told this message.");
  });

  it("is taken back at the server too", async () => {
    const { control, message, withdrawn } = await lostAnswer();
    expect((await control.turns.takeBack(message.messageId))?.text).toBe("two");
    expect(withdrawn).toHaveBeenCalledExactlyOnceWith(message.messageId);
    expect(texts(control)).toEqual([]);
  });

  it("is not taken back once the model was told", async () => {
    const { control, message, refuse } = await lostAnswer();
    refuse(gone);
    expect(await control.turns.takeBack(message.messageId)).toBeUndefined();
    expect(texts(control)).toEqual([]);
    expect(control.failure.value?.message).toBe("The message was not withdrawn: The model was told this message.");
  });
});

it("what nobody knows of stays, held back", async () => {
  const { control, message, server, refuse, begun } = await lostAnswer();
  refuse(broken);
  expect(await control.turns.takeBack(message.messageId)).toBeUndefined();
  expect(control.turns.queue.held.value).toBe(true);
  server.end(InvokeState.COMPLETED);
  await progress(control, "idle");
  await control.turns.sendQueued();
  await progress(control, "idle");
  expect(texts(control)).toEqual(["two"]);
  expect(control.turns.draft.value).toBe("");
  expect(begun()).toEqual(["one"]);
});

it("a message that never arrived is said after the turn, once", async () => {
  const { server, control, refuse, begun, message } = await lostAnswer();
  refuse(unknown);
  server.end(InvokeState.COMPLETED);
  await vi.waitFor(() => expect(begun()).toEqual(["one", "two"]));
  await progress(control, "running");
  expect(await control.turns.takeBack(message.messageId)).toBeUndefined();
});

it("is given back where the turn did not begin, whatever the server said", async () => {
  const { server, control, refuse, refuseTurns } = await lostAnswer();
  refuse(unknown);
  refuseTurns(new ConnectError("Something is there already.", Code.AlreadyExists));
  server.end(InvokeState.COMPLETED);
  await vi.waitFor(() => expect(control.turns.draft.value).toBe("two"));
});

it("what is told to one session is not told to another that is shown since", async () => {
  const server = new OneSession();
  server.sessions = ["fresh", "other"];
  const told: string[] = [];
  const first = Promise.withResolvers<void>();
  server.methods.queueMessage = async ({ sessionId, text }) => {
    told.push(`${sessionId}: ${text}`);
    await first.promise;
    return { turnId: "t1" };
  };
  const { control } = appOn(server);
  await opened(control);
  control.turns.send("one");
  await progress(control, "running");
  control.turns.send("two");
  control.turns.send("three");
  await vi.waitFor(() => expect(told).toHaveLength(1));
  const { sessionId } = control.followed.value?.session ?? {};
  await control.sessions.switchTo(sessionId === "other" ? "fresh" : "other");
  first.resolve();
  await vi.waitFor(() => expect(told).toEqual([`${sessionId}: two`, `${sessionId}: three`]));
});

describe("after a reload", () => {
  async function reloaded() {
    const scene = await lostAnswer();
    const { control, saved, server, message } = scene;
    await vi.waitFor(() =>
      expect(saved.at(-1)).toMatchObject({ queue: [{ id: message.messageId, text: "two", sentTo: "fresh" }] }),
    );
    control[Symbol.dispose]();
    return { ...scene, again: () => appOn(server, { state: saved.at(-1) }).control };
  }

  it("the kept message is the same one, and gone where the model was told", async () => {
    const { server, tell, again, begun } = await reloaded();
    tell();
    server.end(InvokeState.COMPLETED);
    const control = again();
    expect(texts(control)).toEqual(["two"]);
    await vi.waitFor(() => expect(texts(control)).toEqual([]));
    expect(control.turns.queue.held.value).toBe(false);
    expect(begun()).toEqual(["one"]);
  });

  it("the kept message is taken back before it begins a turn", async () => {
    const { server, again, begun, withdrawn, message } = await reloaded();
    server.end(InvokeState.COMPLETED);
    const control = again();
    await opened(control);
    await progress(control, "idle");
    await control.turns.sendQueued();
    await vi.waitFor(() => expect(begun()).toEqual(["one", "two"]));
    expect(withdrawn).toHaveBeenCalledExactlyOnceWith(message.messageId);
  });
});
