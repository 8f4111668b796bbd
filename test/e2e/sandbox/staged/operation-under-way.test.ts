import { bash, call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventOf, eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";

const git = "git -c user.name=a -c user.email=a@example.com";
const read = call("Read", { file_path: "a.txt" });
const edit = call("Edit", { file_path: "a.txt", old_string: "one\n", new_string: "both\n" });
const search = call("Grep", { pattern: "both" });
const turns = [
  [bash(`${git} merge -q other`), search],
  [bash("sed -i '/^[<=>]/d' a.txt; sed -i /other/d a.txt"), read, edit, search],
  [bash(`git add a.txt; ${git} commit -qm merged`)],
  [bash(`${git} revert --no-edit HEAD~1`)],
  [bash("git status")],
];

test("a merge over several turns reaches the user as one commit; what the user overtakes is proposed", async () => {
  await using server = await conflicting(turns);
  const { workspace } = server;
  const sessionId = await startSession(server);
  const before = [await workspace.git("status"), await workspace.git("for-each-ref")];
  const turn = async (index: number) => {
    const events = await runTurn(server, sessionId, `turn ${index}`);
    return { events, results: eventsOf(events, "toolResult"), warnings: eventsOf(events, "warning").map(String) };
  };
  const now = async () => [await workspace.git("status"), await workspace.git("for-each-ref")];

  const begun = await turn(0);
  expect(begun.results[0]?.output).toContain("[a merge is under way: ");
  expect(begun.warnings).toMatchObject([
    expect.stringMatching(/^In this session a merge is under way\. Your files and your repository are unchanged\./),
  ]);
  expect(await now()).toEqual(before);
  await server.restart();
  const solved = await turn(1);
  expect(solved.results.map(({ error }) => error)).toEqual(["", "", "", ""]);
  expect(solved.results[3]?.output).toContain("a.txt");
  expect(eventsOf(solved.events, "changeSetApplied")).toEqual([]);
  expect(await now()).toEqual(before);
  const ended = await turn(2);
  expect(ended.warnings.join()).not.toContain("under way");
  expect(await workspace.read("a.txt")).toBe("both\n");
  expect((await workspace.git("rev-list", "--parents", "-1", "HEAD")).split(" ")).toHaveLength(3);
  expect(await workspace.git("status", "--porcelain")).toBe("");

  await turn(3);
  await workspace.write("a.txt", "the user's\n");
  const overtaken = await turn(4);
  expect(overtaken.results[0]?.error).toContain("The user changed a.txt meanwhile.");
  expect(eventOf(overtaken.events, "proposedChanges").changes).toMatchObject([{ path: "a.txt", conflict: true }]);
  expect(await workspace.git("status", "--porcelain")).toBe(" M a.txt");
  expect(await workspace.read("a.txt")).toBe("the user's\n");
});

test("a person gets what is under way as it is, or ends it", async () => {
  await using server = await conflicting([[bash(`${git} merge -q other`)]]);
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  const [status, refs] = [await workspace.git("status"), await workspace.git("for-each-ref")];
  await runTurn(server, sessionId, "turn 0");
  expect((await client.listLayer({ sessionId })).trees).toMatchObject([{ path: ".git", command: "a merge" }]);
  expect((await client.dropLayer({ sessionId, paths: [".git"] })).paths).toEqual([".git"]);
  expect((await client.listLayer({ sessionId })).trees).toEqual([]);
  expect([await workspace.git("status"), await workspace.git("for-each-ref")]).toEqual([status, refs]);
  await runTurn(server, sessionId, "turn 0");
  const seen = await client.keepLayer({ sessionId, paths: [".git"] });
  expect(seen).toMatchObject({ kept: false, reasons: [expect.stringContaining("MERGE_HEAD")] });
  expect(await workspace.git("status")).toBe(status);
  expect(await client.keepLayer({ sessionId, paths: [".git"], sha256: seen.sha256 })).toMatchObject({ kept: true });
  expect(await workspace.git("status", "--porcelain")).toBe("UU a.txt");
  expect(await workspace.git("rev-parse", "MERGE_HEAD")).toBe(await workspace.git("rev-parse", "other"));
  expect((await client.listLayer({ sessionId })).trees.map(({ path }) => path)).not.toContain(".git");
});

/** A server on a branch whose `a.txt` conflicts with that of the branch `other`. */
async function conflicting(turns: readonly (readonly Readonly<Record<string, unknown>>[])[]) {
  const server = await startTestServer({
    files: { "a.txt": "\n" },
    script: turns.map((steps, index) => ({ match: `^turn ${index}$`, steps: [...steps, { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
  const { workspace } = server;
  await workspace.git("switch", "-qc", "other");
  await workspace.write("a.txt", "other\n");
  await workspace.git("commit", "-qam", "other");
  await workspace.git("switch", "-q", "work");
  await workspace.write("a.txt", "one\n");
  await workspace.git("commit", "-qam", "one");
  return server;
}
