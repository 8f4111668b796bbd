import { expect, test } from "vitest";
import { startSession } from "../../rpc/session-client.ts";
import { result, staging } from "./staging.ts";

const commit = "git -c user.name=a -c user.email=a@example.com commit -qm";

async function seen({ workspace }: Awaited<ReturnType<typeof staging>>) {
  return {
    refs: await workspace.git("for-each-ref"),
    head: await workspace.git("symbolic-ref", "HEAD"),
    index: await workspace.git("ls-files", "-s"),
    status: await workspace.git("status", "--porcelain", "-uall"),
  };
}

test("commits, a new branch and the way to it go back with the files", async () => {
  const onSide = `git switch -qc side; echo x > b.txt; git add b.txt; ${commit} side`;
  await using server = await staging(["true", `echo two > a.txt; ${commit} two a.txt; ${onSide}`], {
    "a.txt": "one\n",
  });
  const sessionId = await startSession(server);
  await result(server, sessionId);
  const before = await seen(server);
  const { output } = await result(server, sessionId);
  expect(output).toContain("exit code 0");
  expect((await seen(server)).head).toBe("refs/heads/side");
  const { refs, skipped } = await server.client.undoChangeSet({ sessionId });
  expect(skipped).toEqual([]);
  expect(refs.toSorted()).toEqual(["HEAD", before.head, "refs/heads/side", ".git/index"].toSorted());
  expect(await seen(server)).toEqual(before);
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toMatch(/"refs":\[[^\]]*"name":"refs\/heads\/side","to":/);
});

test("a branch that the user moved since stays, and is named", async () => {
  await using server = await staging([`echo two > a.txt; ${commit} two a.txt`], { "a.txt": "one\n" });
  const sessionId = await startSession(server);
  await result(server, sessionId);
  await server.workspace.write("c.txt", "the user's\n");
  await server.workspace.git("add", "c.txt");
  await server.workspace.git("commit", "-qm", "three");
  const before = await seen(server);
  const { files, refs, skipped } = await server.client.undoChangeSet({ sessionId });
  expect(files).toMatchObject([{ path: "a.txt" }]);
  expect(refs).toEqual([]);
  expect(skipped).toMatchObject([{ path: before.head }, { path: ".git/index" }]);
  expect(await seen(server)).toEqual({ ...before, status: " M a.txt" });
});

test("what a command only staged goes back, and what the user staged since stays", async () => {
  const command = "echo two > a.txt; echo n > 'new\\tone.txt'; mv b.txt e.txt; echo two > c.txt; git add -A";
  const files = { "a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n" };
  await using server = await staging([command, "true", command], files);
  const { workspace } = server;
  await workspace.write("d.txt", "the user's\n");
  await workspace.git("add", "d.txt");
  const before = await seen(server);
  const sessionId = await startSession(server);
  await result(server, sessionId);
  expect((await seen(server)).index).not.toBe(before.index);
  expect(await server.client.undoChangeSet({ sessionId })).toMatchObject({ skipped: [], refs: [".git/index"] });
  expect(await seen(server)).toEqual(before);
  await result(server, sessionId);
  await workspace.git("rm", "-q", "--cached", "c.txt");
  const { refs, skipped } = await server.client.undoChangeSet({ sessionId });
  expect([refs, skipped]).toMatchObject([[], [{ path: ".git/index" }]]);
  expect(await workspace.git("diff", "--cached", "--name-status")).toBe("D\tc.txt\nM\td.txt");
});

test("of many entries as well; the ledger in the workspace has their number", async () => {
  await using server = await staging(["git add -A"], { "a.txt": "one\n" });
  const { workspace } = server;
  const names = Array.from({ length: 1_200 }, (_, at) => `many/${at}.txt`);
  for (const name of names) await workspace.write(name, `${name}\n`);
  const before = await seen(server);
  const sessionId = await startSession(server);
  await result(server, sessionId);
  expect((await seen(server)).index.split("\n").length).toBeGreaterThan(names.length);
  expect(await server.client.undoChangeSet({ sessionId })).toMatchObject({ skipped: [], refs: [".git/index"] });
  expect(await seen(server)).toEqual(before);
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toContain(`"name":":/ (${names.length} entries)","to":"sha256 `);
});

test("an entry whose earlier object git has cleared away stays", async () => {
  await using server = await staging(["echo two > a.txt; git add a.txt"], { "a.txt": "one\n" });
  const { workspace } = server;
  await workspace.write("a.txt", "the user's\n");
  await workspace.git("add", "a.txt");
  const sessionId = await startSession(server);
  await result(server, sessionId);
  const staged = await workspace.git("ls-files", "-s");
  await workspace.git("gc", "-q", "--prune=now");
  const { skipped } = await server.client.undoChangeSet({ sessionId });
  expect(skipped).toMatchObject([{ path: ".git/index" }]);
  expect(await workspace.git("ls-files", "-s")).toBe(staged);
  expect(await workspace.read("a.txt")).toBe("the user's\n");
});

test("what a command stashed comes back with the files, whatever else is stashed", async () => {
  await using server = await staging(["git stash -q"], { "a.txt": "one\n", "b.txt": "b\n" });
  const { workspace } = server;
  await workspace.write("a.txt", "two\n");
  const sessionId = await startSession(server);
  await result(server, sessionId);
  await workspace.write("b.txt", "the user's\n");
  await workspace.git("stash", "-q");
  const theirs = await workspace.git("rev-parse", "stash@{0}");
  expect(await server.client.undoChangeSet({ sessionId })).toMatchObject({ skipped: [], refs: ["refs/stash"] });
  expect(await workspace.read("a.txt")).toBe("two\n");
  expect(await workspace.git("rev-list", "-g", "refs/stash")).toBe(theirs);
});
