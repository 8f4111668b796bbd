import { chmodSync, existsSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { refusalOf, startSession } from "../../rpc/session-client.ts";
import { bash, type Call, keeping, proposing, turn, twentyLines } from "./proposing.ts";

describe("what a person decides", () => {
  const edits: readonly Call[] = [
    ["Read", { file_path: "a.txt" }],
    ["Edit", { file_path: "a.txt", old_string: "line 2\n", new_string: "second\n" }],
    bash("sed -i 's/line 19/nineteenth/' a.txt && echo new > new.txt && rm src/b.txt"),
  ];

  test("kept hunks are in the workspace, refused ones leave the stage, and nothing is proposed again", async () => {
    await using server = await proposing([edits, [bash("cat a.txt; ls . src")]]);
    const session = await startSession(server, { proposal: true });
    const { proposal } = await turn(server, session);
    await server.client.applyProposal({
      sessionId: session,
      proposalId: proposal().proposalId,
      hunks: keeping(proposal(), (path, hunk) => path === "a.txt" && hunk === 1),
    });
    const kept = twentyLines.replace("line 19", "nineteenth");
    expect(await server.workspace.read("a.txt")).toBe(kept);
    expect(existsSync(server.workspace.path("new.txt"))).toBe(false);
    const { results, proposals } = await turn(server, session);
    expect(results[0]).toContain(`${kept}`);
    expect(results[0]).not.toContain("new.txt");
    expect(results[0]).toContain("b.txt");
    expect(proposals).toEqual([]);
  });

  test("what the user saved meanwhile stays, and what is staged is put on top of it", async () => {
    await using server = await proposing([edits, [bash("cat a.txt")], []]);
    const session = await startSession(server, { proposal: true });
    await turn(server, session);
    writeFileSync(server.workspace.path("a.txt"), twentyLines.replace("line 10\n", "tenth, by the user\n"));
    const { results, proposal } = await turn(server, session);
    expect(results[0]).toContain("second\n");
    expect(results[0]).toContain("tenth, by the user\n");
    expect(results[0]).toContain("nineteenth\n");
    const change = proposal().changes.find(({ path }) => path === "a.txt");
    expect(change?.conflict).toBe(false);
    expect(change?.unifiedDiff).not.toContain("-tenth");
    expect(change?.hunks.map(({ commands }) => commands.length)).toEqual([0, 1]);
    await server.client.applyProposal({
      sessionId: session,
      proposalId: proposal().proposalId,
      hunks: keeping(proposal(), () => true),
    });
    expect(await server.workspace.read("a.txt")).toBe(
      twentyLines
        .replace("line 2\n", "second\n")
        .replace("line 10", "tenth, by the user")
        .replace("line 19", "nineteenth"),
    );
  });

  test("where both changed the same, that is said to model and user, is not kept, and nothing of either is lost", async () => {
    await using server = await proposing([
      edits,
      [["Read", { file_path: "a.txt" }]],
      [
        ["Read", { file_path: "a.txt" }],
        ["Edit", { file_path: "a.txt", old_string: "second\n", new_string: "second of both\n" }],
      ],
    ]);
    const session = await startSession(server, { proposal: true });
    const first = (await turn(server, session)).proposal();
    const users = twentyLines.replace("line 2\n", "the user's\n");
    writeFileSync(server.workspace.path("a.txt"), users);
    const second = await turn(server, session);
    expect(second.results[0]).toContain("[conflict: the user saved a.txt meanwhile");
    expect(second.results[0]).toContain("\n  | the user's\n  | ");
    expect(second.results[0]).toContain("\n  | second\n  | ");
    const request = (proposal: ProposedChanges) => ({
      sessionId: session,
      proposalId: proposal.proposalId,
      hunks: keeping(proposal, () => true),
    });
    expect(await refusalOf(server.client.applyProposal(request(first)))).toMatchObject({ info: "stale_file" });
    const conflicting = (await turn(server, session)).proposal();
    expect(await server.workspace.read("a.txt")).toBe(users);
    // The model put both together: that can be kept.
    expect(conflicting.changes.find(({ path }) => path === "a.txt")).toMatchObject({ conflict: false });
    await server.client.applyProposal(request(conflicting));
    expect(await server.workspace.read("a.txt")).toContain("second of both\n");
  });

  test("what was refused once can be proposed again, and a link that the user puts on the way is not followed", async () => {
    const again: readonly Call[] = [["Write", { file_path: "src/new.txt", content: "again\n" }]];
    await using server = await proposing([again, again, [bash("cat src/new.txt")]]);
    const session = await startSession(server, { proposal: true });
    const first = (await turn(server, session)).proposal();
    const refuse = { sessionId: session, proposalId: first.proposalId, hunks: keeping(first, () => false) };
    await server.client.applyProposal(refuse);
    const second = (await turn(server, session)).proposal();
    expect(second.changes).toMatchObject([{ path: "src/new.txt", newContent: "again\n", conflict: false }]);
    await using elsewhere = await temporaryDirectory();
    renameSync(server.workspace.path("src"), elsewhere.path("src"));
    symlinkSync(elsewhere.path("src"), server.workspace.path("src"));
    const third = await turn(server, session);
    expect(third.results[0]).toContain("src/new.txt is staged, and cannot be where it belongs any more");
    const keep = { sessionId: session, proposalId: second.proposalId, hunks: keeping(second, () => true) };
    expect(await refusalOf(server.client.applyProposal(keep))).toMatchObject({ info: "outside_workspace" });
    expect(readdirSync(elsewhere.path("src"))).toEqual(["b.txt"]);
  });

  test("permission bits go with a change that is kept whole, and what was written before a kill is found written", async () => {
    await using server = await proposing(
      [
        [bash("chmod +x run.sh && echo bb > src/b.txt")],
        [bash("chmod +x a.txt && sed -i -e 's/line 2$/second/' -e 's/line 19/nineteenth/' a.txt")],
        [bash("stat -c %a a.txt")],
      ],
      { "run.sh": "#!/bin/sh\n" },
    );
    const session = await startSession(server, { proposal: true });
    const first = (await turn(server, session)).proposal();
    const value = { proposalId: first.proposalId, hunks: keeping(first, () => true) };
    await server.client.submitClientEvent({ sessionId: session, event: { case: "proposalReview", value } });
    writeFileSync(server.workspace.path("src/b.txt"), "bb\n");
    chmodSync(server.workspace.path("run.sh"), 0o755);
    const applied = await server.client.applyProposal({ sessionId: session, ...value });
    expect(applied).toMatchObject({ alreadyApplied: true, files: [{ path: "run.sh" }, { path: "src/b.txt" }] });

    const second = (await turn(server, session)).proposal();
    const hunks = keeping(second, (_path, hunk) => hunk === 0);
    await server.client.applyProposal({ sessionId: session, proposalId: second.proposalId, hunks });
    expect(await server.workspace.read("a.txt")).toBe(twentyLines.replace("line 2\n", "second\n"));
    expect(statSync(server.workspace.path("a.txt")).mode & 0o111).toBe(0);
    const third = await turn(server, session);
    expect(third.results[0]).toContain("644\n");
    expect(third.proposals).toEqual([]);
  });
});
