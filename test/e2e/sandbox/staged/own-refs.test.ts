import { expect, test } from "vitest";
import { eventsOf, startSession } from "../../rpc/session-client.ts";
import { program, result, staging } from "./staging.ts";

const stash = "echo more >> a.txt; git stash --quiet; git stash list | wc -l";
const count = async (server: Awaited<ReturnType<typeof staging>>) =>
  (await server.workspace.git("stash", "list")).split("\n").filter((line) => line !== "").length;

test("what the session stashed comes back in a later run, also of a later server, whatever else is stashed, and nobody is asked", async () => {
  await using server = await staging([stash, "git stash pop --quiet stash@{1}", "git stash pop --quiet"], {
    "a.txt": "one\n",
    "b.txt": "b\n",
  });
  const session = await startSession(server);
  await result(server, session);
  await server.workspace.write("b.txt", "the user's\n");
  await server.workspace.git("stash", "--quiet");
  await server.restart();
  const { events, error, output } = await result(server, session);
  expect(`${error}${output}`).toContain("exit code 0");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  expect(await server.workspace.read("a.txt")).toBe("one\nmore\n");
  expect(await count(server)).toBe(1);
  // The user's own stays.
  const asked = await result(server, session);
  expect(`${asked.error}${asked.output}`).toContain("refs/stash");
  expect(await count(server)).toBe(1);
});

test.each<[name: string, commands: readonly string[], sessions: 1 | 2]>([
  // Each session begins with the first command.
  [
    "another session stashed",
    ["if git stash list | grep .; then git stash pop --quiet; else git stash --quiet; fi"],
    2,
  ],
  ["the session throws away", ["git stash --quiet", "node do.mjs"], 1],
])("what %s stays without a person", async (_name, commands, sessions) => {
  await using server = await staging(commands, { "a.txt": "one\n", ...program(`execSync("git stash drop --quiet");`) });
  await server.workspace.write("a.txt", "two\n");
  const first = await startSession(server);
  await result(server, first);
  expect(await count(server)).toBe(1);
  const { error, output } = await result(server, sessions === 1 ? first : await startSession(server));
  expect(`${error}${output}`).toContain("refs/stash");
  expect(await count(server)).toBe(1);
});

test("the session goes back to a branch and commits there, and removes one that it made, unless the user committed on it", async () => {
  const git = "git -c user.name=a -c user.email=a@example.com";
  const made = (name: string) => `git switch -qc ${name} && ${git} commit -q --allow-empty -m ${name}`;
  const commands = [
    made("feat"),
    "git switch -q work && git merge -q --ff-only feat",
    "git branch -d feat",
    made("more"),
    "git switch -q work",
    "git branch -D more",
  ];
  await using server = await staging(commands);
  const { workspace } = server;
  const session = await startSession(server);
  for (const _command of commands.slice(0, 5)) expect(await result(server, session)).toMatchObject({ error: "" });
  expect(await workspace.git("for-each-ref", "--format=%(refname:short) %(subject)", "refs/heads")).toBe(
    "main first\nmore more\nwork feat",
  );
  await workspace.git(
    "update-ref",
    "refs/heads/more",
    await workspace.git("commit-tree", "-m", "the user's", "more^{tree}"),
  );
  const { error, output } = await result(server, session);
  expect(`${error}${output}`).toContain("It shortens the log of more");
  expect(await workspace.git("log", "-1", "--format=%s", "more")).toBe("the user's");
});
