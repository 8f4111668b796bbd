import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Code } from "@connectrpc/connect";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { HookedAgent } from "./hooked-agent.ts";

const files = { "a.txt": "one\r\ntwo\r\nthree\r\nfour\r\n", "b.txt": "b\n", "run.sh": "echo\n" };

/** An agent with a hook, its workspace, and the session that it is on record as. */
async function guarded() {
  const server = await startTestServer({ files });
  const { root } = server.workspace;
  const sessionId = async (): Promise<string> => (await server.client.listSessions({})).sessions[0]?.sessionId ?? "";
  return {
    server,
    agent: new HookedAgent(server),
    path: (name: string) => join(root, name),
    read: (name: string) => readFileSync(join(root, name), "utf8"),
    write: (name: string, text: string) => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    },
    undo: async () => server.client.undoChangeSet({ sessionId: await sessionId() }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("an undo takes back a turn of another agent: what its tools wrote, made, and deleted, but no line of the user", async () => {
  await using world = await guarded();
  const { agent, path, read, undo, write } = world;
  const edit = await agent.wants("Edit", { file_path: path("a.txt"), old_string: "one", new_string: "1" });
  write("a.txt", read("a.txt").replace("one", "1"));
  await agent.did(edit.id);
  const made = await agent.wants("Write", { file_path: path("new/deep/c.txt"), content: "c\n" });
  write("new/deep/c.txt", "c\n");
  await agent.did(made.id);
  write("a.txt", read("a.txt").replace("four", "mine"));
  const { skipped } = await undo();
  expect(skipped).toEqual([]);
  expect(read("a.txt")).toBe("one\r\ntwo\r\nthree\r\nmine\r\n");
  expect(existsSync(path("new"))).toBe(false);
});

test("the same for a command, byte for byte: contents, modes, links, and what is gone", async () => {
  await using world = await guarded();
  const { agent, path, read, undo, write } = world;
  chmodSync(path("run.sh"), 0o755);
  const { id, says } = await agent.wants("Bash", { command: "sed -i s/one/1/ a.txt; ./rest" });
  expect(says).toBe("ask");
  write("a.txt", read("a.txt").replace("one", "1"));
  renameSync(path("b.txt"), path("moved.txt"));
  rmSync(path("run.sh"));
  symlinkSync("a.txt", path("link"));
  await agent.did(id);
  expect((await agent.records()).at(-1)).toBe(
    "claude-code, outcome, Bash ask unverified, update a.txt, delete b.txt, create link, create moved.txt, delete run.sh",
  );
  await undo();
  expect([read("a.txt"), read("b.txt"), read("run.sh")]).toEqual(Object.values(files));
  expect(lstatSync(path("run.sh")).mode & 0o777).toBe(0o755);
  expect([existsSync(path("moved.txt")), existsSync(path("link"))]).toEqual([false, false]);
});

test("each of its turns is a change set, and the newest goes back first", async () => {
  await using world = await guarded();
  const { agent, path, read, undo, write } = world;
  for (const text of ["first\n", "second\n"]) {
    const { id } = await agent.wants("Write", { file_path: path("b.txt"), content: text });
    write("b.txt", text);
    await agent.did(id);
    await agent.tell("Stop");
  }
  const seen: string[] = [];
  for (const _turn of [1, 2]) {
    await undo();
    seen.push(read("b.txt"));
  }
  expect(seen).toEqual(["first\n", "b\n"]);
  await expect(undo()).rejects.toMatchObject({ code: Code.NotFound });
});

test("what was changed in a call of which the agent told no end goes back as well", async () => {
  await using world = await guarded();
  const { agent, path, read, undo, write } = world;
  await agent.wants("Write", { file_path: path("b.txt"), content: "x\n" });
  await agent.wants("Bash", { command: "./make" });
  write("b.txt", "x\n");
  write("made.txt", "made\n");
  await agent.tell("Stop");
  const { sessions } = await world.server.client.listSessions({});
  expect(sessions.map(({ guardedAgent }) => guardedAgent)).toEqual(["claude-code"]);
  await undo();
  expect([read("b.txt"), existsSync(path("made.txt"))]).toEqual(["b\n", false]);
});

test("a file that cannot be read after the call is left out by name, and the others of the call go back", async () => {
  await using world = await guarded();
  const { agent, path, read, undo, write } = world;
  const large = await agent.wants("Write", { file_path: path("a.txt"), content: "large" });
  writeFileSync(path("a.txt"), Buffer.alloc(21 * 1024 * 1024, "x"));
  await agent.did(large.id);
  const small = await agent.wants("Write", { file_path: path("b.txt"), content: "x\n" });
  write("b.txt", "x\n");
  await agent.did(small.id);
  expect((await agent.records()).filter((record) => record.includes("outcome"))).toEqual([
    "claude-code, outcome, Write allow unverified",
    "claude-code, outcome, Write allow verified, update b.txt",
  ]);
  await undo();
  expect(read("b.txt")).toBe("b\n");
});
