import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { eventsOf, startSession, Watcher } from "../../rpc/session-client.ts";
import { leftovers, program, result, staging } from "./staging.ts";

describe("what nobody can prove to be harmless runs on a copy, and without a question", () => {
  test.each<[string, string, Readonly<Record<string, string>>, (server: TestServer) => Promise<void> | void]>([
    [
      "files are changed, made and deleted",
      "sed -i s/one/two/ a.txt && printf x > sub-new.txt && rm b.txt",
      { "a.txt": "one\n", "b.txt": "b\n" },
      ({ workspace }) => {
        expect(readFileSync(workspace.path("a.txt"), "utf8")).toBe("two\n");
        expect(existsSync(workspace.path("b.txt"))).toBe(false);
        expect(readFileSync(workspace.path("sub-new.txt"), "utf8")).toBe("x");
      },
    ],
    [
      "a program of the project",
      "node do.mjs",
      program(`fs.mkdirSync("gen/deep", { recursive: true }); fs.writeFileSync("gen/deep/a.ts", "1");`),
      ({ workspace }) => expect(readFileSync(workspace.path("gen/deep/a.ts"), "utf8")).toBe("1"),
    ],
    [
      "a commit on the agent's branch",
      "echo more >> a.txt; git -c user.name=a -c user.email=a@example.com commit -qam more && git log --format=%s -1",
      { "a.txt": "one\n" },
      async ({ workspace }) => {
        expect(await workspace.git("log", "--format=%s", "-1")).toContain("more");
        expect(await workspace.git("status", "--porcelain")).not.toContain("a.txt");
      },
    ],
  ])("%s", async (_name, command, files, look) => {
    await using server = await staging([command], files);
    const { output, error, events } = await result(server, await startSession(server));
    expect(`${error}${output}`).toContain("exit code 0");
    expect(eventsOf(events, "confirmationRequest")).toEqual([]);
    await look(server);
    expect(leftovers(server)).toEqual([]);
  });

  test("one that changed nothing is not kept anywhere", async () => {
    await using server = await staging(["node -e 1"]);
    const { events } = await result(server, await startSession(server));
    expect(eventsOf(events, "checkpointTaken")).toEqual([]);
  });
});

describe("what a person has to see is not true without one", () => {
  test.each<[string, string, Readonly<Record<string, string>>, RegExp, readonly string[]]>([
    [
      "instructions for agents",
      "node do.mjs",
      program(`fs.writeFileSync("AGENTS.md", "evil");`),
      /AGENTS\.md/,
      ["AGENTS.md"],
    ],
    [
      "a script that shells run",
      "node do.mjs",
      program(`fs.writeFileSync("sub.envrc", "1"); fs.mkdirSync("d"); fs.writeFileSync("d/.bashrc", "1");`),
      /\.bashrc/,
      ["d", "sub.envrc"],
    ],
    ["a link to outside", "ln -s /etc/passwd leak", {}, /leads out/, ["leak"]],
    ["a repository in the repository", "git init -q v", {}, /v\/\.git|repository/, ["v"]],
    [
      "a file that leads git to another repository",
      "node do.mjs",
      program(`fs.mkdirSync("v"); fs.writeFileSync("v/.git", "gitdir: ../elsewhere");`),
      /v\/\.git/,
      ["v"],
    ],
    [
      "a link that does",
      "node do.mjs",
      program(
        `fs.mkdirSync("v"); fs.mkdirSync("w"); fs.writeFileSync("w/HEAD", "x"); fs.symlinkSync("../w", "v/.git");`,
      ),
      /v\/\.git/,
      ["v", "w"],
    ],
    [
      "a file in the place of git's directory",
      "node do.mjs",
      program(
        `fs.renameSync(".git/HEAD", "HEAD"); fs.rmSync(".git", { recursive: true }); fs.writeFileSync(".git", "gitdir: x");`,
      ),
      /git/,
      ["HEAD"],
    ],
    [
      "a hook of git's",
      "node do.mjs",
      program(
        `fs.mkdirSync(".git/hooks", { recursive: true }); fs.writeFileSync(".git/hooks/post-checkout", "#!/bin/sh");`,
      ),
      /decides what git runs/,
      [".git/hooks/post-checkout"],
    ],
    [
      "a filter of git's",
      "node do.mjs",
      program(`fs.appendFileSync(".git/config", "[filter \\"x\\"] clean = evil");`),
      /git's own settings/,
      [],
    ],
    ["a tag", "git tag v1", {}, /tag v1/, [".git/refs/tags/v1"]],
  ])("%s", async (_name, command, files, said, absent) => {
    await using server = await staging([command], files);
    const config = await server.workspace.read(".git/config");
    const { output, failureClass: _, ...rest } = await result(server, await startSession(server));
    expect(output).toMatch(said);
    expect(rest.error).not.toBe("");
    for (const path of absent) expect(existsSync(server.workspace.path(path)), path).toBe(false);
    expect(await server.workspace.read(".git/config")).toBe(config);
    expect(leftovers(server)).toEqual([]);
  });

  test("a rebase that would run a program when it goes on", async () => {
    await using server = await staging(
      ["node do.mjs"],
      program(
        `fs.mkdirSync(".git/rebase-merge"); fs.writeFileSync(".git/rebase-merge/git-rebase-todo", "exec evil\\n");`,
      ),
    );
    const { output } = await result(server, await startSession(server));
    expect(output).toContain("decides what git runs");
    expect(existsSync(server.workspace.path(".git/rebase-merge"))).toBe(false);
  });

  test("what a command had done when its time was up", async () => {
    await using server = await staging(["echo half > made.txt; sleep 600"], {}, { timeout_ms: 2_000 });
    const { output } = await result(server, await startSession(server));
    expect(output).toContain("nothing it changed was kept: it did not end by itself");
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
    expect(leftovers(server)).toEqual([]);
  });

  test("a protected branch does not move, by whatever program", async () => {
    await using server = await staging(
      ["node do.mjs"],
      program(
        `execSync("git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree})", { env: { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" } });`,
      ),
    );
    const before = await server.workspace.git("rev-parse", "main");
    const { output } = await result(server, await startSession(server));
    expect(output).toContain("protected");
    expect(await server.workspace.git("rev-parse", "main")).toBe(before);
  });

  test("a commit that holds what the tree never showed", async () => {
    await using server = await staging(
      ["node do.mjs"],
      program(`const sh = (line) => execSync(line, { encoding: "utf8", env: { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" } }).trim();
        fs.writeFileSync("/tmp/evil", '{ "scripts": { "postinstall": "evil" } }');
        sh("git update-index --cacheinfo 100644," + sh("git hash-object -w /tmp/evil") + ",package.json");
        sh("git commit -qm innocent"); sh("git reset -q");`),
    );
    const before = await server.workspace.git("rev-parse", "HEAD");
    const { output } = await result(server, await startSession(server));
    expect(output).toMatch(/package\.json is (to be committed with other content|scripts)/);
    expect(await server.workspace.git("rev-parse", "HEAD")).toBe(before);
  });

  test("more than a few tracked files deleted", async () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`src/${index}.txt`, "x\n"]));
    await using server = await staging(["rm -r src"], many);
    const { output } = await result(server, await startSession(server));
    expect(output).toContain("It deletes 25 files that git tracks");
    expect(readdirSync(server.workspace.path("src"))).toHaveLength(25);
  });
});

test("a secret is not there for a command, and stays where it is", async () => {
  await using server = await staging(
    ["node do.mjs"],
    program(
      `console.log(fs.existsSync(".env") ? "SEEN" : "none"); fs.writeFileSync("made.txt", "1"); fs.writeFileSync(".env", "evil");`,
    ),
  );
  writeFileSync(server.workspace.path(".env"), "TOKEN=canary");
  const { output } = await result(server, await startSession(server));
  expect(output).toContain("none");
  expect(output).toContain("never kept: .env (it is hidden from commands)");
  expect(await server.workspace.read(".env")).toBe("TOKEN=canary");
  expect(await server.workspace.read("made.txt")).toBe("1");
});

test("what git's objects hold of a secret is masked, however it is printed", async () => {
  await using server = await staging(
    ["node do.mjs", "node do.mjs"],
    program(`
      const all = execSync("git log -p --all; git cat-file --batch-all-objects --batch; git stash show -p || true").toString("latin1");
      console.log(all.includes("canary-of-history") ? "THERE" : "not there");
      console.log(all, Buffer.from(all).toString("base64"), Buffer.from(all).toString("hex"));
      console.log(execSync("git show HEAD~1:.env | base64; git show HEAD~1:.env | xxd -p || true").toString());
    `),
  );
  const { workspace } = server;
  const encoded = (value: string) => [
    value,
    Buffer.from(value).toString("hex"),
    Buffer.from(value).toString("base64").slice(2, -4),
  ];
  writeFileSync(workspace.path(".env"), "# settings\nTOKEN=canary-of-history\n");
  await workspace.git("add", "-f", ".env");
  await workspace.git("commit", "-qm", "oops");
  await workspace.git("rm", "-q", ".env");
  await workspace.git("commit", "-qm", "removed");
  const sessionId = await startSession(server);
  const first = await result(server, sessionId);
  const shown = JSON.stringify([first.output, eventsOf(first.events, "toolOutputDelta")]);
  expect(first.output).toContain("THERE");
  for (const form of encoded("canary-of-history")) expect(shown).not.toContain(form);
  // One that comes later, on another branch.
  await workspace.git("checkout", "-qb", "other");
  writeFileSync(workspace.path("id_rsa"), "MIIEvQIBADANBgkqhkiG9w0\n");
  await workspace.git("add", "-f", "id_rsa");
  await workspace.git("commit", "-qm", "a key");
  const second = (await result(server, sessionId)).output;
  expect(second).toContain("a key");
  for (const value of ["canary-of-history", "MIIEvQIBADANBgkqhkiG9w0"]) {
    for (const form of encoded(value)) expect(second).not.toContain(form);
  }
});

test("what rules let nobody see is not there either, also for a command that is proven to read", async () => {
  await using server = await staging(["cat */deep/*; grep -rh canar[y] .; ls"], {
    "customers/deep/list.txt": "canary\n",
    ".gennai/rules.yaml": "zeroAccessPaths: [customers/]\n",
    "empty/x.txt": "x\n",
  });
  const { output } = await result(server, await startSession(server));
  expect(output).not.toContain("canary");
  expect(output).toContain("package.json");
  expect(await server.workspace.read("customers/deep/list.txt")).toBe("canary\n");
});

test("what the user saves meanwhile stays, and the command is told that it is stale", async () => {
  await using server = await staging(["node do.mjs"], {
    "a.txt": "one\n",
    ...program(
      `fs.writeFileSync("a.txt", "command"); console.log("STARTED"); while (!fs.existsSync("/tmp/never") && Date.now() < ${String(Date.now())} + 1e9) { await new Promise((done) => setTimeout(done, 1500)); break; }`,
    ),
  });
  const sessionId = await startSession(server);
  await using watcher = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "turn" });
  await watcher.next("toolOutputDelta");
  writeFileSync(server.workspace.path("a.txt"), "user");
  const { error, output } = await watcher.next("toolResult");
  expect(`${error}${output}`).toContain("a.txt");
  expect(await server.workspace.read("a.txt")).toBe("user");
  expect(leftovers(server)).toEqual([]);
});

test("what waits for the next command is gone with the server", async () => {
  await using server = await staging(["echo a > a.txt", "cat a.txt; echo b >> a.txt"]);
  const sessionId = await startSession(server);
  await result(server, sessionId);
  writeFileSync(server.workspace.path("a.txt"), "user\n");
  expect((await result(server, sessionId)).output).toContain("user");
  expect(await server.workspace.read("a.txt")).toBe("user\nb\n");
  await server.running[Symbol.asyncDispose]();
  expect(readdirSync(join(server.stateDir, "stages"))).toEqual([]);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(server.stateDir);
});
