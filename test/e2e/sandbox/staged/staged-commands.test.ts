import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { eventsOf, startSession, Watcher } from "../../rpc/session-client.ts";
import { useServer } from "../../rpc/use-server.ts";
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

/** Says how to run a program that does this. */
function does(text: string): string {
  const name = `do-${Object.keys(programs).length}.mjs`;
  programs[name] = program(text)["do.mjs"] ?? "";
  return `node ${name}`;
}
const programs: Record<string, string> = {};
const named = `{ encoding: "utf8", env: { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" } }`;

describe("what a person has to see is not true without one", () => {
  const cases: readonly (readonly [what: string, command: string, said: RegExp])[] = [
    ["instructions for agents", does(`fs.writeFileSync("AGENTS.md", "evil");`), /AGENTS\.md/],
    [
      "a script that shells run",
      does(`fs.writeFileSync("sub.envrc", "1"); fs.mkdirSync("d"); fs.writeFileSync("d/.bashrc", "1");`),
      /\.bashrc/,
    ],
    [
      "what no list knows, in one question",
      does(`fs.mkdirSync(".newtool"); fs.writeFileSync(".newtool/rules.md", "evil"); fs.writeFileSync("Earthfile", "evil");
        fs.writeFileSync("made.txt", "1"); fs.writeFileSync("x.config.mjs", "evil");`),
      /Tools may run or obey these new files: (?:(?:\.newtool\/rules\.md|Earthfile|x\.config\.mjs)[.,] ){3}/,
    ],
    ["a link to outside", "ln -s /etc/passwd leak", /leads out/],
    ["a repository in the repository", "git init -q v", /v\/\.git|repository/],
    [
      "a file that leads git to another repository",
      does(`fs.mkdirSync("v"); fs.writeFileSync("v/.git", "gitdir: ../elsewhere");`),
      /v\/\.git/,
    ],
    [
      "a link that does",
      does(`fs.mkdirSync("v"); fs.mkdirSync("w"); fs.writeFileSync("w/HEAD", "x"); fs.symlinkSync("../w", "v/.git");`),
      /v\/\.git/,
    ],
    [
      "a file in the place of git's directory",
      does(
        `fs.renameSync(".git/HEAD", "HEAD"); fs.rmSync(".git", { recursive: true }); fs.writeFileSync(".git", "gitdir: x");`,
      ),
      /git/,
    ],
    [
      "a hook of git's",
      does(
        `fs.mkdirSync(".git/hooks", { recursive: true }); fs.writeFileSync(".git/hooks/post-checkout", "#!/bin/sh");`,
      ),
      /decides what git runs/,
    ],
    [
      "a filter of git's",
      does(`fs.appendFileSync(".git/config", "[filter \\"x\\"] clean = evil");`),
      /git's own settings/,
    ],
    ["HEAD on a branch named like a remote's", "git switch -qc origin/x", /another name/],
    [
      "a protected branch does not move, by whatever program",
      does(`execSync("git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree})", ${named});`),
      /protected/,
    ],
    [
      "a commit that holds what the tree never showed",
      does(`const sh = (line) => execSync(line, ${named}).trim();
        fs.writeFileSync("/tmp/evil", '{ "scripts": { "postinstall": "evil" } }');
        sh("git update-index --cacheinfo 100644," + sh("git hash-object -w /tmp/evil") + ",package.json");
        sh("git commit -qm innocent"); sh("git reset -q");`),
      /package\.json is (to be committed with other content|scripts)/,
    ],
    [
      "a new file that only a commit holds",
      does(`const sh = (line) => execSync(line, ${named}).trim();
        sh("git update-index --add --cacheinfo 100644," + sh("git hash-object -w src/0.txt") + ",Earthfile");
        sh("git commit -qm innocent"); sh("git reset -q");`),
      /these new files: Earthfile/,
    ],
    ["more than a few tracked files deleted", "rm -r src", /It deletes 25 files that git tracks/],
  ];
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`src/${index}.txt`, "x\n"]));
  // Nothing of them is kept, so that each finds the repository as it was.
  const shared = useServer(() =>
    staging(
      cases.map(([, command]) => command),
      { ...many, ...programs },
      {},
      { inputs: cases.map(([what]) => what) },
    ),
  );

  test.each(cases)("%s", async (what, _command, said) => {
    const server = shared();
    const { workspace } = server;
    const now = async () => [
      await workspace.git("status", "--porcelain", "--branch"),
      await workspace.git("for-each-ref"),
      await workspace.git("rev-parse", "HEAD"),
      await workspace.read(".git/config"),
      readdirSync(workspace.path(".git")).filter((name) => !["index", "COMMIT_EDITMSG"].includes(name)),
      readdirSync(workspace.path(".git/hooks")),
    ];
    const before = await now();
    const { output, error } = await result(server, await startSession(server), what);
    expect(output).toMatch(said);
    expect(error).not.toBe("");
    expect(await now()).toEqual(before);
    expect(leftovers(server)).toEqual([]);
  });

  test.each([
    ["a merge that nobody began", `fs.writeFileSync(".git/MERGE_HEAD", execSync("git rev-parse HEAD"));`],
    [
      "a rebase that would run a program",
      `fs.mkdirSync(".git/rebase-merge"); fs.writeFileSync(".git/rebase-merge/git-rebase-todo", "exec evil\\n");`,
    ],
  ])("%s stays in the session", async (_what, text) => {
    await using server = await staging(["node do.mjs"], program(text));
    const { workspace } = server;
    const now = () => readdirSync(workspace.path(".git"));
    const before = now();
    expect((await result(server, await startSession(server))).output).toMatch(/a (merge|rebase) is under way/);
    expect(now()).toEqual(before);
  });
});

test("what a command had done when its time was up is not kept", async () => {
  await using server = await staging(["echo half > made.txt; sleep 600"], {}, { timeout_ms: 2_000 });
  const { output } = await result(server, await startSession(server));
  expect(output).toContain("nothing it changed was kept: it did not end by itself");
  expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  expect(leftovers(server)).toEqual([]);
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
