import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { expect, test } from "vitest";
import { call } from "../../wire/wire-world.ts";
import { endState, eventsOf, runTurn, startSession, Watcher } from "../rpc/session-client.ts";
import { messagesOf, providerWorld } from "./provider-world.ts";

const task = (name: "Task" | "Explore", id: string, prompt: string, more: object = {}) =>
  call(id, name, { description: "a part of it", prompt, ...more });

/** What the provider was asked last by the user of that conversation. */
const asked = (request: Parameters<typeof messagesOf>[0]) =>
  messagesOf(request).findLast(({ role }) => role === "user")?.content ?? "";
const results = (request: Parameters<typeof messagesOf>[0]) =>
  messagesOf(request).filter(({ role }) => role === "tool").length;

test("a sub-agent works under the same gate, its calls are told below the call that runs it, its report comes back", async () => {
  await using world = await providerWorld(
    (_count, request) => {
      if (asked(request) === "write the note") {
        if (results(request) === 0)
          return { text: ["On it."], calls: [call("c1", "Write", { file_path: "note.txt", content: "hello\n" })] };
        if (results(request) === 1)
          return { calls: [call("c2", "Write", { file_path: ".git/hooks/x", content: "bad" })] };
        if (results(request) === 2) return { calls: [call("c3", "Task", { description: "x", prompt: "y" })] };
        return { text: ["Wrote note.txt; the hook was refused."] };
      }
      return results(request) === 0 ? { calls: [task("Task", "c1", "write the note")] } : { text: ["All done."] };
    },
    { files: { "a.txt": "a\n" } },
  );
  const { server, provider } = world;
  const sessionId = await startSession(server);
  const events = await runTurn(server, sessionId, "have it written");
  expect(endState(events)).toBe("COMPLETED");
  expect(await server.workspace.read("note.txt")).toBe("hello\n");
  const calls = events.flatMap(({ event, parentToolCallId }) =>
    event.case === "toolCall" ? [{ id: event.value.id, name: event.value.name, parent: parentToolCallId }] : [],
  );
  expect(calls).toEqual([
    { id: "c1", name: "Task", parent: "" },
    { id: "c1-2", name: "Write", parent: "c1" },
    { id: "c2", name: "Write", parent: "c1" },
    { id: "c3", name: "Task", parent: "c1" },
  ]);
  const errors = eventsOf(events, "toolResult").map(({ id, error }) => [id, error !== ""]);
  // No sub-agent of a sub-agent, and nobody writes hooks.
  expect(errors).toEqual([
    ["c1-2", false],
    ["c2", true],
    ["c3", true],
    ["c1", false],
  ]);
  expect(eventsOf(events, "toolResult").at(-1)?.output).toBe("Wrote note.txt; the hook was refused.");
  // The parent's conversation has the report and none of the calls.
  expect(messagesOf(provider.requests.at(-1)).map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
  expect(eventsOf(events, "final").map(({ text }) => text)).toEqual(["All done."]);
  const { session } = await server.client.resumeSession({ sessionId });
  expect(session?.usage?.modelCalls).toBe(6);
  // One change set, taken back as one.
  expect((await server.client.undoChangeSet({ sessionId })).files).toMatchObject([{ path: "note.txt" }]);
  const records = (await server.running.manager.services.log.read(sessionId, 0, 1_000)).filter(
    ({ event }) => event.parentToolCallId === "c1",
  );
  expect(records.length).toBeGreaterThan(8);
  const ledger = readLedgerRecords(server.stateDir, server.workspace.root, 0, 100).map(({ json }) => json);
  expect(ledger.filter((json) => json.includes('"parent_call":"c1"')).length).toBe(4);
});

test("several that only read run at once, and can only read", async () => {
  let under = 0;
  let most = 0;
  await using world = await providerWorld((_count, request) => {
    const text = asked(request);
    if (text.startsWith("find")) {
      most = Math.max(most, ++under);
      if (results(request) === 0) return { calls: [call("w", "Write", { file_path: `${text}.txt`, content: "x" })] };
      under -= 2;
      return { text: [`${text}: nothing`] };
    }
    return results(request) === 0
      ? { calls: ["find a", "find b", "find c"].map((prompt, at) => task("Explore", `e${at}`, prompt)) }
      : { text: ["ok"] };
  });
  const events = await runTurn(world.server, await startSession(world.server), "explore");
  expect(endState(events)).toBe("COMPLETED");
  const reports = eventsOf(events, "toolResult").filter(({ id }) => id.startsWith("e"));
  expect(reports.map(({ output }) => output).sort()).toEqual(["find a: nothing", "find b: nothing", "find c: nothing"]);
  const writes = eventsOf(events, "toolResult").filter(({ id }) => id.startsWith("w"));
  expect(writes.map(({ id }) => id).sort()).toEqual(["w", "w-2", "w-3"]);
  expect(writes.every(({ output }) => output.includes("unknown_tool"))).toBe(true);
  expect(most).toBeGreaterThan(1);
});

test("it ends with the turn that runs it, and shares its budget", async () => {
  {
    await using server = (
      await providerWorld((_count, request) =>
        asked(request) === "wait"
          ? { calls: [call("c1", "Bash", { command: "cat" })] }
          : { calls: [task("Task", "t1", "wait")] },
      )
    ).server;
    await using watcher = await Watcher.begin(server, { capabilities: { confirmation: true } });
    const { sessionId } = watcher;
    await watcher.next("gateDecision");
    await server.client.cancelTurn({ sessionId, reason: "enough" });
    expect(await watcher.end()).toBe("CANCELLED");
  }
  await using world = await providerWorld(
    (count, request) =>
      asked(request) === "read on"
        ? { calls: [call(`r${count}`, "Read", { file_path: "big.txt" })] }
        : results(request) === 0
          ? { calls: [task("Explore", "t1", "read on")] }
          : { text: ["done"] },
    { files: { "big.txt": "many words here\n".repeat(1_900) } },
  );
  const sessionId = await startSession(world.server, { settings: { maxTurnTokens: 6_000n } });
  const events = await runTurn(world.server, sessionId, "go");
  expect(endState(events)).toBe("COMPLETED");
  expect(eventsOf(events, "toolResult").at(-1)).toMatchObject({
    id: "t1",
    output: expect.stringContaining("budget_exceeded"),
  });
  expect(world.provider.requests).toHaveLength(3);
});

test("a repository's sub-agent has its own instructions, and never more tools than the turn", async () => {
  const file = "---\nname: reviewer\ndescription: Reviews\ntools: Read, Bash, Write, Deploy\n---\nReview it twice.\n";
  await using world = await providerWorld(
    (_count, request) => {
      if (asked(request) === "look") {
        if (results(request) > 0) return { text: ["Fine."] };
        return { calls: [call("s1", "Write", { file_path: "x.txt", content: "x" })] };
      }
      if (results(request) > 0) return { text: ["Done."] };
      return { calls: [task("Explore", "c1", "look", { agent: "reviewer" })] };
    },
    { files: { ".claude/agents/reviewer.md": file } },
  );
  const events = await runTurn(world.server, await startSession(world.server), "do it");
  expect(endState(events)).toBe("COMPLETED");
  const [first, nested] = world.provider.requests;
  expect(JSON.stringify(first?.body["tools"])).toContain("reviewer (.claude/agents/reviewer.md): Reviews");
  expect(messagesOf(nested)[0]?.content).toContain("grant no permission]\nReview it twice.");
  const names = ((nested?.body["tools"] ?? []) as { function: { name: string } }[]).map((each) => each.function.name);
  expect(names).toEqual(["Read"]);
  expect(eventsOf(events, "toolResult")[0]?.error).not.toBe("");
});
