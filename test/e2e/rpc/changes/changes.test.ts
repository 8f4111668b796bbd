import { existsSync } from "node:fs";
import { sha256Hex } from "@gennai/protocol/digest";
import { ChangeOperation, HunkDecision, type ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { allEvents, codeOf, endState, eventOf, eventsOf, refusalOf, runTurn, startSession } from "../session-client.ts";
import { useServer } from "../use-server.ts";

const before = "one\ntwo\nthree\n";
const after = "one\n2\nthree\n";
const changed = { case: "proposalApplied" } as const;

describe("undo", () => {
  const edits = {
    steps: [
      call("Read", { file_path: "a.txt" }),
      { text: ["Read."] },
      call("Edit", { file_path: "a.txt", old_string: "two", new_string: "2" }),
      { text: ["Edited."] },
      call("Write", { file_path: "new.txt", content: "new\n" }),
      { text: ["Written."] },
    ],
  };

  function editedServer(): Promise<TestServer> {
    return startTestServer({ files: { "a.txt": before }, script: [edits, { steps: [{ text: ["Next."] }] }] });
  }

  async function editTurn(server: TestServer): Promise<string> {
    const sessionId = await startSession(server);
    const events = await runTurn(server, sessionId, "edit");
    expect(endState(events)).toBe("COMPLETED");
    expect(await server.workspace.read("a.txt")).toBe(after);
    return sessionId;
  }

  test("takes back everything a turn changed, once, and says so to everybody", async () => {
    await using server = await editedServer();
    const sessionId = await editTurn(server);
    const applied = eventsOf(await allEvents(server, sessionId), "changeSetApplied");
    expect(applied.flatMap(({ files }) => files)).toMatchObject([
      {
        path: "a.txt",
        operation: ChangeOperation.UPDATE,
        beforeSha256: sha256Hex(before),
        afterSha256: sha256Hex(after),
      },
      { path: "new.txt", operation: ChangeOperation.CREATE, beforeSha256: "", afterSha256: sha256Hex("new\n") },
    ]);
    const undone = await server.client.undoChangeSet({ sessionId });
    expect(undone.changeSetId).toBe(applied[0]?.changeSetId);
    expect(await server.workspace.read("a.txt")).toBe(before);
    expect(existsSync(server.workspace.path("new.txt"))).toBe(false);
    expect(eventOf(await allEvents(server, sessionId), "changeSetUndone")).toEqual(
      expect.objectContaining({ changeSetId: undone.changeSetId, files: undone.files }),
    );
    expect(await codeOf(server.client.undoChangeSet({ sessionId }))).toBe("not_found");
    expect(await codeOf(server.client.undoChangeSet({ sessionId, changeSetId: undone.changeSetId }))).toBe(
      "failed_precondition",
    );
    expect(await codeOf(server.client.undoChangeSet({ sessionId, changeSetId: "another" }))).toBe("not_found");
  });

  test.each([
    ["changed the file", (server: TestServer) => server.workspace.write("a.txt", "mine\n")],
    ["made the new file theirs", (server: TestServer) => server.workspace.write("new.txt", "mine\n")],
  ])("when the user %s since, nothing is taken back", async (_what, change) => {
    await using server = await editedServer();
    const sessionId = await editTurn(server);
    await change(server);
    const left = [await server.workspace.read("a.txt"), await server.workspace.read("new.txt")];
    const refused = await refusalOf(server.client.undoChangeSet({ sessionId }));
    expect(refused).toMatchObject({ code: "failed_precondition" });
    expect(refused.message).toContain("changed since");
    expect([await server.workspace.read("a.txt"), await server.workspace.read("new.txt")]).toEqual(left);
  });

  test("two at once take it back once", async () => {
    await using server = await editedServer();
    const sessionId = await editTurn(server);
    const codes = await Promise.all([1, 2, 3].map(() => codeOf(server.client.undoChangeSet({ sessionId }))));
    expect(codes.filter((code) => code === "ok")).toHaveLength(1);
    expect(await server.workspace.read("a.txt")).toBe(before);
    expect(eventsOf(await allEvents(server, sessionId), "changeSetUndone")).toHaveLength(1);
  });

  test("a fork has nothing to take back", async () => {
    await using server = await editedServer();
    const { sessionId } = await server.client.forkSession({ sessionId: await editTurn(server) });
    expect(await codeOf(server.client.undoChangeSet({ sessionId }))).toBe("not_found");
    expect(await server.workspace.read("a.txt")).toBe(after);
  });
});

describe("a proposal", () => {
  const changes = [
    { path: "a.txt", operation: "update", new_content: after },
    { path: "new.txt", operation: "create", new_content: "new\n" },
  ];
  const proposes = { steps: [call("ProposeChanges", { changes }), { text: ["Proposed."] }] };

  async function proposed(
    server: TestServer,
  ): Promise<{ readonly sessionId: string; readonly proposal: ProposedChanges }> {
    const sessionId = await startSession(server, { proposal: true });
    const events = await runTurn(server, sessionId, "change it");
    return { sessionId, proposal: eventOf(events, "proposedChanges") };
  }

  /** Each test has a session of its own, and puts back what it changes. */
  const proposing = useServer(() =>
    startTestServer({ files: { "a.txt": before }, script: [proposes, { steps: [{ text: ["Next."] }] }] }),
  );

  const updated = {
    path: "a.txt",
    operation: ChangeOperation.UPDATE,
    beforeSha256: sha256Hex(before),
    afterSha256: sha256Hex(after),
  };
  const created = { path: "new.txt", operation: ChangeOperation.CREATE, afterSha256: sha256Hex("new\n") };

  test("a review is recorded once, and reaches the model", async () => {
    const server = proposing();
    const { sessionId, proposal } = await proposed(server);
    const [change] = proposal.changes;
    const review = {
      proposalId: proposal.proposalId,
      note: "No numbers, please.",
      hunks: [{ changeId: change?.id ?? "", hunkId: change?.hunks[0]?.id ?? "", decision: HunkDecision.UNDO }],
    };
    const submit = (value: typeof review) =>
      server.client.submitClientEvent({ sessionId, event: { case: "proposalReview", value } });
    expect(await submit(review)).toMatchObject({ status: "OK" });
    expect(await codeOf(submit(review))).toBe("already_exists");
    expect(eventOf(await allEvents(server, sessionId), "proposalReview")).toMatchObject({
      note: "No numbers, please.",
    });
    await runTurn(server, sessionId, "again");
    const { preview } = await server.client.getConversationPreview({ sessionId, maxMessages: 20 });
    expect(preview).toContain("No numbers, please.");
  });

  test.each([
    ["of a proposal nobody made", { proposalId: "nope" }, "not_found"],
    ["of a change it does not have", { hunks: [{ changeId: "c9", decision: HunkDecision.KEEP }] }, "invalid_argument"],
    [
      "of a hunk it does not have",
      { hunks: [{ changeId: "c1", hunkId: "h9", decision: HunkDecision.KEEP }] },
      "invalid_argument",
    ],
    ["that decides nothing", { hunks: [{ changeId: "c1" }] }, "invalid_argument"],
    [
      "that decides twice",
      {
        hunks: [
          { changeId: "c1", decision: HunkDecision.KEEP },
          { changeId: "c1", decision: HunkDecision.UNDO },
        ],
      },
      "invalid_argument",
    ],
  ])("a review %s is refused", async (_what, wrong, code) => {
    const server = proposing();
    const { sessionId, proposal } = await proposed(server);
    const value = { proposalId: proposal.proposalId, ...wrong };
    expect(await codeOf(server.client.submitClientEvent({ sessionId, event: { case: "proposalReview", value } }))).toBe(
      code,
    );
  });

  test("what a client says it wrote is believed once it is on disk, and can be taken back", async () => {
    const server = proposing();
    const { sessionId, proposal } = await proposed(server);
    const value = { proposalId: proposal.proposalId, files: [updated, created] };
    const report = () => server.client.submitClientEvent({ sessionId, event: { ...changed, value } });
    expect(await codeOf(report())).toBe("failed_precondition");
    await server.workspace.write("a.txt", after);
    await server.workspace.write("new.txt", "new\n");
    expect(await report()).toMatchObject({ status: "OK" });
    expect(await codeOf(report())).toBe("already_exists");
    const events = await allEvents(server, sessionId);
    expect(eventOf(events, "changeSetApplied")).toMatchObject({ proposalId: proposal.proposalId });
    await server.client.undoChangeSet({ sessionId });
    expect(await server.workspace.read("a.txt")).toBe(before);
    expect(existsSync(server.workspace.path("new.txt"))).toBe(false);
  });

  test("what a client merged it with is kept from the review on, and comes back with an undo", async () => {
    const server = proposing();
    const { sessionId, proposal } = await proposed(server);
    const mine = `${before}mine\n`;
    await server.workspace.write("a.txt", mine);
    const hunks = [{ changeId: proposal.changes[0]?.id ?? "", hunkId: "", decision: HunkDecision.KEEP }];
    const review = { proposalId: proposal.proposalId, hunks };
    await server.client.submitClientEvent({ sessionId, event: { case: "proposalReview", value: review } });
    await server.workspace.write("a.txt", `${after}mine\n`);
    const files = [{ ...updated, beforeSha256: sha256Hex(mine), afterSha256: sha256Hex(`${after}mine\n`) }];
    const value = { proposalId: proposal.proposalId, files };
    await server.client.submitClientEvent({ sessionId, event: { ...changed, value } });
    await server.client.undoChangeSet({ sessionId });
    expect(await server.workspace.read("a.txt")).toBe(mine);
    await server.workspace.write("a.txt", before);
  });

  test.each([
    ["no file", [], "invalid_argument"],
    ["a file it did not propose", [{ ...updated, path: "b.txt" }], "invalid_argument"],
    ["another operation", [{ ...updated, operation: ChangeOperation.DELETE }], "invalid_argument"],
    ["a base where there was none", [{ ...created, beforeSha256: sha256Hex("other") }], "invalid_argument"],
    ["a digest that is none", [{ ...updated, afterSha256: "x" }], "invalid_argument"],
    ["another result than is on disk", [{ ...updated, afterSha256: sha256Hex("other") }], "failed_precondition"],
    ["a file outside", [{ ...updated, path: "../a.txt" }], "invalid_argument"],
  ])("a report of %s is refused", async (_what, files, code) => {
    const server = proposing();
    const { sessionId, proposal } = await proposed(server);
    await server.workspace.write("a.txt", after);
    const value = { proposalId: proposal.proposalId, files };
    expect(await codeOf(server.client.submitClientEvent({ sessionId, event: { ...changed, value } }))).toBe(code);
    expect(eventsOf(await allEvents(server, sessionId), "changeSetApplied")).toEqual([]);
    await server.workspace.write("a.txt", before);
  });

  test("that was not applied leaves a warning", async () => {
    const server = proposing();
    const { sessionId, proposal } = await proposed(server);
    const value = { proposalId: proposal.proposalId, error: "disk full" };
    await server.client.submitClientEvent({ sessionId, event: { ...changed, value } });
    expect(eventsOf(await allEvents(server, sessionId), "warning").at(-1)).toContain("disk full");
  });

  test("another session knows nothing of it", async () => {
    const server = proposing();
    const { proposal } = await proposed(server);
    const other = await startSession(server, { proposal: true });
    const value = { proposalId: proposal.proposalId, files: [updated] };
    expect(await codeOf(server.client.submitClientEvent({ sessionId: other, event: { ...changed, value } }))).toBe(
      "not_found",
    );
  });
});
