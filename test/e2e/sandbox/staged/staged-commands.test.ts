import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, startSession } from "../../rpc/session-client.ts";
import { useServer } from "../../rpc/use-server.ts";
import { leftovers, program, result, staging } from "./staging.ts";

test("what nobody can prove to be harmless runs on a copy, and without a question; it is kept, and nothing is left", async () => {
  const command =
    "sed -i s/one/two/ a.txt && printf x > sub-new.txt && rm b.txt && node do.mjs && git add a.txt && " +
    "git -c user.name=a -c user.email=a@example.com commit -qm more";
  await using server = await staging([command, "node -e 1"], {
    "a.txt": "one\n",
    "b.txt": "b\n",
    ...program(`fs.mkdirSync("gen/deep", { recursive: true }); fs.writeFileSync("gen/deep/a.ts", "1");`),
  });
  const { workspace } = server;
  const sessionId = await startSession(server);
  const { output, error, events } = await result(server, sessionId);
  expect(`${error}${output}`).toContain("exit code 0");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  expect(existsSync(workspace.path("b.txt"))).toBe(false);
  expect(await workspace.read("sub-new.txt")).toBe("x");
  expect(await workspace.read("gen/deep/a.ts")).toBe("1");
  expect(await workspace.git("show", "HEAD:a.txt")).toBe("two");
  expect(await workspace.git("log", "--format=%s", "-1")).toBe("more");
  expect(leftovers(server)).toEqual([]);
  // One that changes nothing is kept nowhere.
  expect(eventsOf((await result(server, sessionId)).events, "checkpointTaken")).toEqual([]);
});

/** Says how to run a program that does this. */
function does(text: string): string {
  const name = `do-${Object.keys(programs).length}.mjs`;
  programs[name] = program(text)["do.mjs"] ?? "";
  return `node ${name}`;
}
const programs: Record<string, string> = {};
const named = `{ encoding: "utf8", env: { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" } }`;

const cases: readonly (readonly [what: string, command: string, said: RegExp])[] = [
  ["instructions for agents", does(`fs.writeFileSync("AGENTS.md", "evil");`), /AGENTS\.md/],
  [
    "a protected branch does not move, by whatever program",
    does(`execSync("git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree})", ${named});`),
    /protected/,
  ],
];
// Nothing of them is kept, so that each finds the repository as it was.
const shared = useServer(() =>
  staging(
    cases.map(([, command]) => command),
    programs,
    {},
    { inputs: cases.map(([what]) => what) },
  ),
);

test.each(cases)("what a person has to see is not true without one: %s", async (what, _command, said) => {
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
