// @vitest-environment happy-dom
import { Code, ConnectError } from "@connectrpc/connect";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { describe, expect, it, vi } from "vitest";
import { appOn, OneSession, opened, progress } from "./one-session.ts";

describe("sessions", () => {
  it("begins one with the first prompt, and not before", async () => {
    const server = new OneSession();
    const { control, shown } = appOn(server);
    await opened(control);
    expect(server.created).not.toHaveBeenCalled();
    // What is shown is another matter than what the model does.
    control.showThinking.value = false;
    control.turns.send("hello");
    expect(control.turns.progress.value).toBe("starting");
    await progress(control, "running");
    expect(server.created).toHaveBeenCalledOnce();
    expect(shown).toEqual(["fresh"]);
    expect(server.started[0]).toMatchObject({ sessionId: "fresh", userInput: "hello", enableThinking: true });
  });

  const rows = [
    ["the newest", { sessions: ["new", "old"] }, {}, "new"],
    ["the one the host names", { sessions: ["new", "old"] }, { sessionId: "old" }, "old"],
    ["the one that was shown before", { sessions: ["new", "old"] }, { state: { sessionId: "old" } }, "old"],
    ["none, where the user wanted a new one", { sessions: ["new"] }, { state: { sessionId: null } }, undefined],
    ["none, where there is none", { sessions: [] }, {}, undefined],
    ["none, where the one that was shown is gone", { sessions: ["new"] }, { sessionId: "gone" }, undefined],
  ] as const;
  it.each(rows)("shows %s", async (_name, { sessions }, launch, wanted) => {
    const server = new OneSession();
    server.sessions = sessions;
    const { control } = appOn(server, launch);
    await opened(control);
    expect(control.followed.value?.session.sessionId).toBe(wanted);
    expect(control.failure.value?.code).toBe(
      "sessionId" in launch && launch.sessionId === "gone" ? "NotFound" : undefined,
    );
  });

  it("keeps a draft and what waits over a reload, and sends nothing of it unasked", async () => {
    const server = new OneSession();
    const { control, saved } = appOn(server);
    await opened(control);
    control.turns.send("one");
    await progress(control, "running");
    control.turns.send("two");
    control.turns.draft.value = "half a thou";
    await vi.waitFor(() =>
      expect(saved.at(-1)).toMatchObject({ draft: "half a thou", queue: [{ text: "two" }], sessionId: "fresh" }),
    );
    control[Symbol.dispose]();
    server.end(InvokeState.COMPLETED);
    server.sessions = ["fresh"];
    const again = appOn(server, { state: saved.at(-1) });
    await opened(again.control);
    await vi.waitFor(() => expect(again.control.followed.value?.view.value.cells).toHaveLength(2));
    expect(again.control.turns.draft.value).toBe("half a thou");
    expect(again.control.turns.queue.held.value).toBe(true);
    expect(server.started).toHaveLength(1);
    await again.control.turns.sendQueued();
    await vi.waitFor(() => expect(server.started).toHaveLength(2));
  });

  it("keeps a prompt that the server does not have yet, as what was being written", async () => {
    const server = new OneSession();
    const asked = Promise.withResolvers<void>();
    // An editor asks for a branch before it lets the call through.
    Object.assign(server.methods, {
      startTurn: async () => {
        await asked.promise;
        throw new ConnectError("You chose no branch.", Code.FailedPrecondition);
      },
    });
    const { control, saved } = appOn(server);
    await opened(control);
    control.turns.send("make it blue");
    await progress(control, "starting");
    await vi.waitFor(() => expect(saved.at(-1)).toMatchObject({ draft: "make it blue", queue: [] }));
    control.turns.draft.value = "and then green";
    await vi.waitFor(() =>
      expect(saved.at(-1)).toMatchObject({ draft: "and then green", queue: [{ text: "make it blue" }] }),
    );
    asked.resolve();
    await progress(control, "idle");
    await vi.waitFor(() => expect(control.turns.queue.prompts.value.map(({ text }) => text)).toEqual(["make it blue"]));
    const again = appOn(server, { state: saved.at(-1) });
    await opened(again.control);
    expect(again.control.turns.draft.value).toBe("and then green");
    expect(again.control.turns.queue.held.value).toBe(true);
  });
});

describe("while a turn runs", () => {
  it("prompts wait for its end, in their order", async () => {
    const server = new OneSession();
    const { control } = appOn(server);
    await opened(control);
    control.turns.send("one");
    await progress(control, "running");
    control.turns.send("two");
    control.turns.send("three");
    expect(server.started).toHaveLength(1);
    server.end(InvokeState.COMPLETED);
    await vi.waitFor(() => expect(server.started.map(({ userInput }) => userInput)).toEqual(["one", "two"]));
    expect(control.turns.queue.prompts.value.map(({ text }) => text)).toEqual(["three"]);
  });

  it.each([InvokeState.ERROR, InvokeState.INTERRUPTED, InvokeState.CANCELLED])(
    "nothing follows on its own an end that is not a good one: %s",
    async (state) => {
      const server = new OneSession();
      const { control } = appOn(server);
      await opened(control);
      control.turns.send("one");
      await progress(control, "running");
      control.turns.send("two");
      server.end(state);
      await progress(control, "idle");
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(server.started).toHaveLength(1);
      expect(control.turns.queue.held.value).toBe(true);
    },
  );

  it("is stopping until the server says that it stopped", async () => {
    const server = new OneSession();
    const { control } = appOn(server);
    await opened(control);
    control.turns.send("one");
    await progress(control, "running");
    const wait = Promise.withResolvers<void>();
    server.stopWaits = wait.promise;
    const stopped = control.turns.stop();
    await vi.waitFor(() => expect(server.stopped).toHaveBeenCalledOnce());
    expect(control.turns.progress.value).toBe("stopping");
    wait.resolve();
    expect(await stopped).toBe(true);
    await progress(control, "idle");
  });

  it("tells the running turn what is said, in order, shows it until the model was told, and gives it back", async () => {
    const server = new OneSession();
    const said = new Map<string, string>();
    server.methods.queueMessage = ({ messageId, text }) => {
      said.set(messageId, text);
      server.emit({ case: "messageQueued", value: { messageId, text } });
      return { turnId: "t1" };
    };
    server.methods.withdrawMessage = ({ messageId }) => {
      server.emit({ case: "messageWithdrawn", value: { messageId } });
      return { text: said.get(messageId) ?? "" };
    };
    const { control } = appOn(server);
    await opened(control);
    control.turns.send("one");
    await progress(control, "running");
    control.turns.send("two");
    control.turns.send("three");
    control.turns.send("four");
    const waiting = () => control.followed.value?.view.value.facts.value.queuedMessages ?? [];
    await vi.waitFor(() => expect(waiting().map(({ text }) => text)).toEqual(["two", "three", "four"]));
    expect([...said.values()]).toEqual(["two", "three", "four"]);
    await vi.waitFor(() => expect(control.turns.queue.prompts.value).toEqual([]));

    const [two, three] = waiting();
    server.emit({ case: "userMessage", value: { text: "two", messageId: two?.messageId ?? "" } });
    expect((await control.turns.takeBack(three?.messageId ?? ""))?.text).toBe("three");
    await vi.waitFor(() => expect(waiting().map(({ text }) => text)).toEqual(["four"]));
    // The turn ends before the model was told the last one: nothing says it unasked.
    server.end(InvokeState.ERROR);
    await progress(control, "idle");
    expect(server.started).toHaveLength(1);
    await control.turns.sendQueued();
    await vi.waitFor(() => expect(server.started.map(({ userInput }) => userInput)).toEqual(["one", "four"]));
  });

  it("says it after the turn where that was over before it heard", async () => {
    const server = new OneSession();
    const arrived = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    server.methods.queueMessage = async () => {
      arrived.resolve();
      await ended.promise;
      throw new ConnectError("No turn runs.", Code.FailedPrecondition);
    };
    const { control } = appOn(server);
    await opened(control);
    control.turns.send("one");
    await progress(control, "running");
    control.turns.send("two");
    await arrived.promise;
    server.end(InvokeState.COMPLETED);
    await progress(control, "idle");
    expect(server.started).toHaveLength(1);
    ended.resolve();
    await vi.waitFor(() => expect(server.started.map(({ userInput }) => userInput)).toEqual(["one", "two"]));
    expect(control.failure.value).toBeUndefined();
  });

  it("says this one at once, when the user wishes", async () => {
    const server = new OneSession();
    const { control } = appOn(server);
    await opened(control);
    control.turns.send("one");
    await progress(control, "running");
    control.turns.send("rather this");
    await control.turns.stopAndSend(control.turns.queue.prompts.value[0]?.id ?? "");
    await vi.waitFor(() => expect(server.started.map(({ userInput }) => userInput)).toEqual(["one", "rather this"]));
    expect(server.stopped).toHaveBeenCalledOnce();
  });
});

it("gives a prompt back that was not sent", async () => {
  const server = new OneSession();
  server.methods.startSession = () => {
    throw new ConnectError("Too many sessions.", Code.FailedPrecondition);
  };
  const { control } = appOn(server);
  await opened(control);
  control.turns.send("precious words");
  await progress(control, "idle");
  expect(control.turns.draft.value).toBe("precious words");
  expect(control.failure.value?.message).toBe("The prompt was not sent: Too many sessions.");
});

it("says no more that a prompt was not sent once one was, and keeps what else went wrong", async () => {
  const server = new OneSession();
  const { startTurn } = server.methods;
  let refuses = true;
  server.methods.startTurn = (request, context) => {
    if (refuses || startTurn === undefined) throw new ConnectError("You chose no branch.", Code.FailedPrecondition);
    return startTurn(request, context);
  };
  const { control } = appOn(server);
  await opened(control);
  control.turns.send("make it blue");
  await vi.waitFor(() => expect(control.failure.value?.message).toContain("You chose no branch."));
  refuses = false;
  control.turns.send("make it blue");
  await progress(control, "running");
  expect(control.failure.value).toBeUndefined();

  control.failure.failed("The sessions could not be listed", new Error("No server."));
  server.end(InvokeState.COMPLETED);
  await progress(control, "idle");
  control.turns.send("make it green");
  await progress(control, "running");
  expect(control.failure.value?.message).toBe("The sessions could not be listed: No server.");
  control.failure.putAway();
  expect(control.failure.value).toBeUndefined();
});

it("has a command run that begins with !, after the turn that runs", async () => {
  const server = new OneSession();
  const { startTurn } = server.methods;
  const begun: { readonly userInput?: string; readonly runsCommand?: boolean }[] = [];
  server.methods.startTurn = (request, context) => {
    begun.push({ userInput: request.userInput, runsCommand: request.runsCommand });
    if (startTurn === undefined) throw new Error("It begins no turns.");
    return startTurn(request, context);
  };
  const { control } = appOn(server);
  await opened(control);
  control.turns.send("make it blue");
  await progress(control, "running");
  control.turns.send("!npm test");
  expect(begun).toEqual([{ userInput: "make it blue", runsCommand: false }]);
  server.end(InvokeState.COMPLETED);
  await vi.waitFor(() => expect(begun.at(-1)).toEqual({ userInput: "npm test", runsCommand: true }));
});

it("does what its host asks", async () => {
  const server = new OneSession();
  const { control, notify } = appOn(server);
  await opened(control);
  notify({ type: "prompt", text: "about this file", send: false });
  expect(control.turns.draft.value).toBe("about this file");
  notify({ type: "show-panel", panel: "plan" });
  expect(control.panel.value).toBe("plan");
  notify({ type: "show-panel", panel: "review", proposalId: "p1" });
  expect([control.panel.value, control.reviewed.value]).toEqual(["review", "p1"]);
  notify({ type: "server", state: "unreachable", message: "Start it." });
  expect(control.serverNotice.value?.message).toBe("Start it.");
  notify({ type: "prompt", text: "go", send: true });
  await vi.waitFor(() => expect(server.started).toHaveLength(1));
});
