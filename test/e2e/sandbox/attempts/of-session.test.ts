import { existsSync } from "node:fs";
import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { describe, expect, test } from "vitest";
import { allEvents, eventsOf, refusalOf, runTurn } from "../../rpc/session-client.ts";
import { keeping } from "../proposal/proposing.ts";
import { AttemptingSession, attempting, copiesLeft, inEach, twelveLines } from "./of-session.ts";

describe("an attempt that is taken", () => {
  test("in Proposal Mode stands on what is staged and what the user saved, and is kept in part", async () => {
    await using server = await attempting([
      inEach("echo 2 > value.txt; seq 9 > more.txt; sed -i 's/line 12/tried 12/' a.txt", "echo 1 > value.txt"),
    ]);
    const session = await AttemptingSession.start(server);
    await runTurn(server, session.id, "stage it");
    const { id } = await session.begin({ count: 2 });
    const made = await session.ended(id);
    expect(made.attempts.map(({ number, outcome, check }) => [number, outcome, check])).toEqual([
      [1, "completed", "passed"],
      [2, "completed", "failed"],
    ]);
    expect(made.suggested).toBe(1);
    // What is staged was there, and is not a change of the attempt.
    const [best] = made.attempts;
    expect(best?.changes.map(({ path }) => path)).toEqual(["a.txt", "more.txt", "value.txt"]);
    expect(await session.text(id, best?.changes[0]?.before?.sha256 ?? "")).toContain("staged 1\n");
    expect(await server.workspace.read("a.txt")).toBe(twelveLines);

    // Meanwhile the user saves another line.
    await server.workspace.write("a.txt", twelveLines.replace("line 6\n", "saved 6\n"));
    const proposalId = await session.take(id, 1);
    const proposal = eventsOf(await allEvents(server, session.id), "proposedChanges").at(-1);
    expect(proposal?.proposalId).toBe(proposalId);
    expect(proposal?.changes.map(({ path, conflict }) => [path, conflict])).toEqual([
      ["a.txt", false],
      ["more.txt", false],
      ["value.txt", false],
    ]);
    expect(existsSync(server.workspace.path("more.txt"))).toBe(false);
    if (proposal === undefined) throw new Error("none");
    const hunks = keeping(proposal, (path, hunk) => path === "value.txt" || (path === "a.txt" && hunk === 1));
    await server.client.applyProposal({ sessionId: session.id, proposalId, hunks });
    const expected = twelveLines.replace("line 6\n", "saved 6\n").replace("line 12\n", "tried 12\n");
    expect(await server.workspace.read("a.txt")).toBe(expected);
    expect(await server.workspace.read("value.txt")).toBe("2\n");
    expect(existsSync(server.workspace.path("more.txt"))).toBe(false);
  });

  test("in Branch Mode is a proposal by itself; a link is left out, and that is said", async () => {
    await using server = await attempting([inEach("echo 2 > value.txt; ln -s value.txt led.txt", "true")]);
    const session = await AttemptingSession.start(server, {});
    const { id } = await session.begin({ count: 2 });
    const { attempts } = await session.ended(id);
    expect(attempts.map(({ number, changes }) => [number, changes.length])).toEqual([
      [1, 2],
      [2, 0],
    ]);
    const proposalId = await session.take(id, 1);
    const events = await allEvents(server, session.id);
    expect(eventsOf(events, "warning").join()).toContain("left out: led.txt");
    const proposal = eventsOf(events, "proposedChanges").at(-1);
    expect(proposal?.changes.map(({ path }) => path)).toEqual(["value.txt"]);
    if (proposal === undefined) throw new Error("none");
    const hunks = keeping(proposal, () => true);
    await server.client.applyProposal({ sessionId: session.id, proposalId, hunks });
    expect(await server.workspace.read("value.txt")).toBe("2\n");
    expect(await refusalOf(session.take(id, 2))).toMatchObject({ info: "nothing_to_take" });
  });

  test("over what the session changed the same in meanwhile is refused, and nothing is proposed", async () => {
    await using server = await attempting([inEach("sed -i 's/line 1$/tried 1/' a.txt", "true")]);
    const session = await AttemptingSession.start(server);
    const { id } = await session.begin({ count: 2 });
    await session.ended(id);
    await runTurn(server, session.id, "stage it");
    const before = eventsOf(await allEvents(server, session.id), "proposedChanges").length;
    const refusal = await refusalOf(session.take(id, 1));
    expect(refusal).toMatchObject({ code: "failed_precondition", info: "stale_file" });
    expect(refusal.message).toContain("a.txt is staged in this session by now");
    expect(eventsOf(await allEvents(server, session.id), "proposedChanges")).toHaveLength(before);
  });
});

test("one is stopped alone, and then all; what was changed until then can be looked at", async () => {
  const waiting = "echo 5 > value.txt; sleep 120";
  await using server = await attempting(["echo 4 > value.txt", inEach(waiting, waiting, waiting)]);
  const session = await AttemptingSession.start(server);
  const { id } = await session.begin({ count: 3 });
  // Both have changed something durable, and are at what takes long.
  const { attempts } = await session.until(
    id,
    (set) => set.attempts.filter(({ phase }) => phase === "working").length === 2,
  );
  for (const { sessionId } of attempts.filter(({ phase }) => phase === "working")) {
    const results = async () => eventsOf(await allEvents(server, sessionId), "toolResult").length;
    await expect.poll(results).toBe(1);
  }
  const one = await session.stop(id, 1);
  expect(one.attempts.find(({ number }) => number === 1)).toMatchObject({
    phase: "ended",
    outcome: "cancelled",
    check: "not_run",
  });
  expect(one.isRunning).toBe(true);
  const stopped = await session.stop(id, 0);
  expect(stopped.isRunning).toBe(false);
  expect(stopped.attempts.map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled", "cancelled"]);
  expect(stopped.suggested).toBeUndefined();
  const changed = stopped.attempts.find(({ number }) => number === 1)?.changes[0];
  expect([changed?.path, await session.text(id, changed?.after?.sha256 ?? "")]).toEqual(["value.txt", "4\n"]);
  await session.ended(id);
  expect(await session.take(id, 1)).not.toBe("");
});

test("what cannot be tried is refused before anything is copied", async () => {
  await using server = await attempting(["true"]);
  const session = await AttemptingSession.start(server);
  for (const [field, wrong] of [
    ["count", { count: 1 }],
    ["count", { count: 9 }],
    ["user_input", { count: 2, text: "  " }],
    ["client_attempts_id", { count: 2, id: "a b" }],
    ["parallel", { count: 2, parallel: 9 }],
    ["allow", { count: 2, allow: ["nowhere"] }],
    ["models", { count: 2, models: ["a", "b", "c"] }],
  ] as const) {
    const message = expect.stringContaining(field) as string;
    expect(await refusalOf(session.begin(wrong))).toMatchObject({ code: "invalid_argument", message });
  }
  // It answers in the editor's own session alone.
  const ofEditor = await AttemptingSession.start(server, { settings: { backend: Backend.EDITOR } });
  expect(await refusalOf(ofEditor.begin({ count: 2 }))).toMatchObject({ info: "editor_model" });
  expect(copiesLeft(server)).toEqual([]);
});

test("without a check, or with ids of others, it is said", async () => {
  await using server = await attempting(["true"]);
  const session = await AttemptingSession.start(server);
  expect(await refusalOf(session.begin({ count: 2, check: "" }))).toMatchObject({ info: "no_check" });
  for (const id of ["", "../..", "deadbeef"]) expect((await refusalOf(session.take(id, 1))).code).toBe("not_found");
  const same = crypto.randomUUID();
  const [one, other] = await Promise.all([
    session.begin({ count: 2, id: same }),
    session.begin({ count: 2, id: same }),
  ]);
  expect(one.id).toBe(other.id);
  await session.attempts.drop(one.id, { signal: new AbortController().signal });
  expect(await session.of(one.id)).toBeUndefined();
  expect(copiesLeft(server)).toEqual([]);
});
