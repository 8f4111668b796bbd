import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { sha256Hex } from "@gennai/protocol/digest";
import { type ApplyProposalRequestSchema, FileSource } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ChangeOperation, HunkDecision, type ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { allEvents, codeOf, eventOf, eventsOf, refusalOf, runTurn, startSession, Watcher } from "../session-client.ts";

const before = "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\n";
const after = "ONE\ntwo\nthree\n4\n5\n6\n7\n8\n9\nTEN\n";
const changes = [
  { path: "a.txt", operation: "update", new_content: after },
  { path: "sub/new.txt", operation: "create", new_content: "new\n" },
  { path: "old.txt", operation: "delete" },
];
const proposes = (list: readonly unknown[] = changes) => ({
  steps: [call("ProposeChanges", { changes: list }), { text: ["Proposed."] }],
});
const keepAll = ["c1", "c2", "c3"].map((changeId) => ({ changeId, decision: HunkDecision.KEEP }));

interface Proposed {
  readonly sessionId: string;
  readonly proposalId: string;
  readonly proposal: ProposedChanges;
}

function serve(list?: readonly unknown[]): Promise<TestServer> {
  return startTestServer({
    files: { "a.txt": before, "old.txt": "old\n" },
    script: [proposes(list), { steps: [{ text: ["Next."] }] }],
  });
}

async function propose(server: TestServer): Promise<Proposed> {
  const sessionId = await startSession(server, { proposal: true });
  const proposal = eventOf(await runTurn(server, sessionId, "change it"), "proposedChanges");
  return { sessionId, proposal, proposalId: proposal.proposalId };
}

const request = (
  { sessionId, proposalId }: Proposed,
  more: MessageInitShape<typeof ApplyProposalRequestSchema> = {},
): MessageInitShape<typeof ApplyProposalRequestSchema> => ({ sessionId, proposalId, hunks: keepAll, ...more });

async function untouched(server: TestServer): Promise<boolean> {
  return (
    (await server.workspace.read("a.txt")) === before &&
    existsSync(server.workspace.path("old.txt")) &&
    !existsSync(server.workspace.path("sub/new.txt"))
  );
}

describe("the server applies", () => {
  test("what was kept, in one step, records it, and takes it back", async () => {
    await using server = await serve();
    const proposed = await propose(server);
    const applied = await server.client.applyProposal(request(proposed, { note: "Fine." }));
    expect(applied).toMatchObject({
      alreadyApplied: false,
      files: [
        {
          path: "a.txt",
          operation: ChangeOperation.UPDATE,
          beforeSha256: sha256Hex(before),
          afterSha256: sha256Hex(after),
        },
        { path: "sub/new.txt", operation: ChangeOperation.CREATE, beforeSha256: "", afterSha256: sha256Hex("new\n") },
        { path: "old.txt", operation: ChangeOperation.DELETE, beforeSha256: sha256Hex("old\n"), afterSha256: "" },
      ],
    });
    expect(await server.workspace.read("a.txt")).toBe(after);
    expect(await server.workspace.read("sub/new.txt")).toBe("new\n");
    expect(existsSync(server.workspace.path("old.txt"))).toBe(false);
    const events = await allEvents(server, proposed.sessionId);
    expect(eventOf(events, "proposalReview")).toMatchObject({ note: "Fine." });
    expect(eventOf(events, "changeSetApplied")).toMatchObject({
      changeSetId: applied.changeSetId,
      proposalId: proposed.proposalId,
    });
    const { changeSetId } = await server.client.undoChangeSet({ sessionId: proposed.sessionId });
    expect(changeSetId).toBe(applied.changeSetId);
    expect(await untouched(server)).toBe(true);
    expect(existsSync(server.workspace.path("sub"))).toBe(false);
  });

  test("nothing when nothing was kept, and the review is told all the same", async () => {
    await using server = await serve();
    const proposed = await propose(server);
    expect(await server.client.applyProposal(request(proposed, { hunks: [], note: "No." }))).toMatchObject({
      changeSetId: "",
      files: [],
    });
    expect(await untouched(server)).toBe(true);
    expect(eventOf(await allEvents(server, proposed.sessionId), "proposalReview")).toMatchObject({ note: "No." });
    expect(await codeOf(server.client.applyProposal(request(proposed)))).toBe("already_exists");
  });

  test("once, however often and from wherever the same decisions come", async () => {
    await using server = await serve();
    const proposed = await propose(server);
    const hunks = [...keepAll].reverse();
    const answers = await Promise.all(
      [keepAll, hunks, keepAll].map((each) =>
        refusalOf(server.client.applyProposal(request(proposed, { hunks: each }))),
      ),
    );
    expect(answers.map(({ code }) => code)).toContain("ok");
    expect(answers.every(({ code, info }) => code === "ok" || info === "busy")).toBe(true);
    await server.restart();
    expect(await server.client.applyProposal(request(proposed))).toMatchObject({
      alreadyApplied: true,
      files: [{ path: "a.txt" }, { path: "sub/new.txt" }, { path: "old.txt" }],
    });
    const events = await allEvents(server, proposed.sessionId);
    expect(eventsOf(events, "changeSetApplied")).toHaveLength(1);
    expect(eventsOf(events, "proposalReview")).toHaveLength(1);
    expect(await codeOf(server.client.applyProposal(request(proposed, { hunks: keepAll.slice(1) })))).toBe(
      "already_exists",
    );
  });

  test("on with a review whose writing broke off, whether or not the files were written", async () => {
    for (const isWritten of [false, true]) {
      await using server = await serve();
      const proposed = await propose(server);
      const value = { proposalId: proposed.proposalId, hunks: keepAll };
      await server.client.submitClientEvent({
        sessionId: proposed.sessionId,
        event: { case: "proposalReview", value },
      });
      if (isWritten) {
        await server.workspace.write("a.txt", after);
        await server.workspace.write("sub/new.txt", "new\n");
        await server.workspace.git("rm", "--quiet", "old.txt");
      }
      expect(await server.client.applyProposal(request(proposed))).toMatchObject({ alreadyApplied: isWritten });
      expect(await server.workspace.read("a.txt")).toBe(after);
      await server.client.undoChangeSet({ sessionId: proposed.sessionId });
      expect(await untouched(server)).toBe(true);
    }
  });
});

test("lines that the user changed since are merged, and stay when all is taken back", async () => {
  await using server = await serve();
  const proposed = await propose(server);
  const mine = before.replace("5\n", "five\n");
  await server.workspace.write("a.txt", mine);
  await server.client.applyProposal(request(proposed));
  const merged = after.replace("5\n", "five\n");
  expect(await server.workspace.read("a.txt")).toBe(merged);
  await server.workspace.write("a.txt", merged.replace("7\n", "seven\n"));
  await server.client.undoChangeSet({ sessionId: proposed.sessionId });
  expect(await server.workspace.read("a.txt")).toBe(mine.replace("7\n", "seven\n"));
  expect(existsSync(server.workspace.path("sub/new.txt"))).toBe(false);
});

describe("nothing is written", () => {
  test("when a file changed since, or one of several is in the way", async () => {
    for (const path of ["a.txt", "sub/new.txt"]) {
      await using server = await serve();
      const proposed = await propose(server);
      await server.workspace.write(path, "mine\n");
      expect(await refusalOf(server.client.applyProposal(request(proposed)))).toMatchObject({
        code: "failed_precondition",
        info: "stale_file",
        message: expect.stringContaining(path),
      });
      expect(await server.workspace.read(path)).toBe("mine\n");
      expect(existsSync(server.workspace.path("old.txt"))).toBe(true);
      const events = await allEvents(server, proposed.sessionId);
      expect([...eventsOf(events, "proposalReview"), ...eventsOf(events, "changeSetApplied")]).toEqual([]);
    }
  });

  // What a review itself cannot say, changes.test.ts has.
  test("when the person saw another text, or a text of no file in it", async () => {
    await using server = await serve();
    const proposed = await propose(server);
    const on = (path: string, sha256 = "") =>
      refusalOf(server.client.applyProposal(request(proposed, { expectedBases: [{ path, sha256 }] })));
    expect(await on("a.txt", sha256Hex("other"))).toMatchObject({ code: "failed_precondition", info: "stale_file" });
    expect(await on("b.txt")).toMatchObject({ code: "invalid_argument" });
    expect(await codeOf(server.client.applyProposal(request({ ...proposed, proposalId: "nope" })))).toBe("not_found");
    expect(await untouched(server)).toBe(true);
    expect(eventsOf(await allEvents(server, proposed.sessionId), "proposalReview")).toEqual([]);
  });

  test("in read-only mode", async () => {
    await using server = await serve();
    const proposed = await propose(server);
    const { governance } = server;
    const control = EmergencyControl.READ_ONLY;
    await governance.setEmergencyControl({ control, enabled: true, by: "me", reason: "a look" });
    expect(await refusalOf(server.client.applyProposal(request(proposed)))).toMatchObject({
      code: "permission_denied",
      info: "read_only_mode",
    });
    expect(await untouched(server)).toBe(true);
    await governance.setEmergencyControl({ control, enabled: false, by: "me", reason: "looked" });
    expect(await codeOf(server.client.applyProposal(request(proposed)))).toBe("ok");
  });

  test.each([
    ["a rule that came since", ".gennai/rules.yaml", "readOnlyPaths: [a.txt]\n"],
    ["a path that the project closed since", ".gennai/config.yaml", "paths:\n  deny: [a.txt]\n"],
  ])("against %s", async (_what, file, text) => {
    await using server = await serve();
    const proposed = await propose(server);
    await server.workspace.write(file, text);
    expect(await codeOf(server.client.applyProposal(request(proposed)))).toBe("permission_denied");
    expect(await untouched(server)).toBe(true);
  });

  test.each(["../out.txt", ".git/config"])("where a link leads to %s by now", async (target) => {
    await using server = await serve([{ path: "dir/new.txt", operation: "create", new_content: "new\n" }]);
    const proposed = await propose(server);
    await symlink(dirname(server.workspace.path(target)), server.workspace.path("dir"));
    const hunks = keepAll.slice(0, 1);
    expect(await codeOf(server.client.applyProposal(request(proposed, { hunks })))).toBe("permission_denied");
    expect(existsSync(join(dirname(server.workspace.path(target)), "new.txt"))).toBe(false);
  });

  test("over what an editor has not saved", async () => {
    await using server = await serve();
    const proposed = await propose(server);
    const { sessionId } = proposed;
    await using editor = await Watcher.attach(server, sessionId, { capabilities: { fileRead: true } });
    const applying = refusalOf(server.client.applyProposal(request(proposed)));
    for (const index of [0, 1, 2]) {
      const { requestId, path } = await editor.next("requestFileRead", index);
      const value = { requestId, path, content: "mine", source: FileSource.BUFFER, dirty: path === "a.txt" };
      await editor.submit({ case: "fileReadResponse", value });
    }
    expect(await applying).toMatchObject({
      code: "failed_precondition",
      info: "unsaved_changes",
      message: expect.stringContaining("a.txt has unsaved changes"),
    });
    expect(await untouched(server)).toBe(true);
  });
});
