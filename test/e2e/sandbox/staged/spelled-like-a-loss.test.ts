import { existsSync } from "node:fs";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventOf, eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";
import { result, staging } from "./staging.ts";

const files = { "a.txt": "one\n", "src/render/r.ts": "1\n", "src/b.ts": "1\n" };

const harmless: readonly [command: string, gone: string][] = [
  ["find src/render -delete", "src/render"],
  ["echo more >> a.txt; git stash && git stash drop; echo x > new.txt; git clean -fd; git reset --hard", "new.txt"],
  [`node -e 'require("child_process").execSync("true"); fs.rmSync("src/b.ts")'`, "src/b.ts"],
];

test.each(harmless)("%s runs unasked where nothing of the user's is lost", async (command, gone) => {
  await using server = await staging([command], files);
  const { output, error, events } = await result(server, await startSession(server));
  expect(`${error}${output}`).toContain("exit code 0");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  expect(await server.workspace.read("a.txt")).toBe("one\n");
  expect(existsSync(server.workspace.path(gone))).toBe(false);
});

// What is lost is found out by what is there afterwards, however it went: found/thrown-away.test.ts has the ways.
const losses: readonly [command: string, said: RegExp][] = [
  ["rm -rf a.txt notes.txt src", /throws away your changes in a\.txt, notes\.txt/],
  ["git stash drop", /refs\/stash/],
  ["git rm -rq many", /deletes 21 files/],
];

test.each(losses)("%s changes nothing without a person", async (command, said) => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`many/${index}.txt`, "1\n"]));
  await using server = await staging([command], { ...files, ...many });
  const { workspace } = server;
  await workspace.write("src/b.ts", "2\n");
  await workspace.git("stash", "--quiet");
  await workspace.git("commit", "--quiet", "--allow-empty", "--message", "next");
  await workspace.git("branch", "theirs");
  await workspace.write("a.txt", "mine\n");
  await workspace.write("notes.txt", "mine\n");
  const before = await workspace.git("for-each-ref");
  const { output, error } = await result(server, await startSession(server));
  expect(`${error}${output}`).toMatch(said);
  expect(await workspace.read("a.txt")).toBe("mine\n");
  expect(await workspace.read("notes.txt")).toBe("mine\n");
  expect(existsSync(workspace.path("many/0.txt"))).toBe(true);
  // A turn may have begun a branch for the agent.
  const after = (await workspace.git("for-each-ref")).split("\n");
  expect(after).toEqual(expect.arrayContaining(before.trim().split("\n")));
});

test("what the session wrote it may throw away, but not the user's work below it", async () => {
  const edit = (path: string, from: string) =>
    call("Edit", { file_path: path, old_string: from, new_string: `${from} and more` });
  const bash = (command: string) => call("Bash", { command });
  await using server = await startTestServer({
    files: { ...files, "c.txt": "one\n" },
    steps: [
      call("Read", { file_path: "a.txt" }),
      call("Read", { file_path: "c.txt" }),
      edit("a.txt", "one"),
      edit("c.txt", "mine"),
      call("Write", { file_path: "src/new.ts", content: "1\n" }),
      bash("git checkout -- a.txt && rm src/new.ts"),
      bash("git checkout -- c.txt"),
      { text: ["Done."] },
    ],
    server: { commands: "staged" },
  });
  await server.workspace.write("c.txt", "mine\n");
  const events = await runTurn(server, await startSession(server), "go");
  const results = eventsOf(events, "toolResult").map(({ error, output }) => `${error}${output}`);
  expect(results.slice(-2)).toEqual([
    expect.stringContaining("exit code 0"),
    expect.stringContaining("throws away your changes in c.txt"),
  ]);
  expect(await server.workspace.read("a.txt")).toBe("one\n");
  expect(existsSync(server.workspace.path("src/new.ts"))).toBe(false);
  expect(await server.workspace.read("c.txt")).toBe("mine and more\n");
  expect(eventOf(events, "final").text).toBe("Done.");
});
