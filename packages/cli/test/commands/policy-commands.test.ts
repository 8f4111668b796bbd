import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../test-console.ts";

let base: string;
let root: string;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "policy-")));
  root = join(base, "ws");
  mkdirSync(join(root, ".gennai"), { recursive: true });
  mkdirSync(join(base, "home"));
  writeFileSync(join(root, "README.md"), "# x\n");
  writeFileSync(join(root, "gone.mjs"), 'import fs from "node:fs"; fs.rmSync("README.md");\n');
  const rules = "noDeletePaths: [README.md]\nbashToolPatterns:\n  - {pattern: 'x', reason: r, match: ['x']}\n";
  writeFileSync(join(root, ".gennai/rules.yaml"), rules);
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

async function gennai(args: readonly string[], input = "") {
  const console = testConsole(root, { GENNAI_STATE_DIR: join(base, "state"), HOME: join(base, "home") });
  console.input.end(input);
  const code = await runCommandLine(["policy", ...args], console);
  return { code, printed: console.printed(), complained: console.complained() };
}

test("commands are judged as a server with the same option would judge them", async () => {
  execFileSync("git", ["init", "--quiet", "--initial-branch", "work", root]);
  const verdict = async (...args: readonly string[]) => (await gennai(["check", "npm test", ...args])).printed;
  expect(await verdict("--commands", "ask")).toMatch(/^ask/);
  const boxed = await gennai(["check", "npm test", "--commands", "staged"]);
  // Where the machine has none, a server would not start either.
  if (boxed.complained === "") {
    expect(boxed.printed).toMatch(/^staged {2}risk medium {2}It runs on a copy/);
    expect(await verdict("--commands", "ask")).toMatch(/^ask[^]*commands are not staged: it was switched off/);
  } else expect(boxed.complained).toContain("sandbox");
  expect(await verdict()).toMatch(boxed.complained === "" ? /^staged/ : /^ask/);
  expect((await gennai(["check", "npm test", "--commands", "maybe"])).code).toBe(2);
});

test("a command that opens connections says that each host is asked about when it runs", async () => {
  const hosts = /^ {2}network {2}it connects to a host only after you allow that host; you are asked while it runs$/m;
  const staged = await gennai(["check", "curl https://host.test", "--commands", "staged"]);
  // Where the machine has no sandbox, nothing is staged.
  if (staged.complained !== "") return expect(staged.complained).toContain("sandbox");
  expect(staged.printed).toMatch(hosts);
  for (const command of ["cd src && npm install left-pad", "git push", "pip install flask"])
    expect((await gennai(["check", command])).printed, command).toMatch(hosts);
  // One that is refused reaches nothing: the rule of this workspace refuses what has an x in it.
  for (const command of ["git status", "npm test", "curl https://example.test"])
    expect((await gennai(["check", command])).printed, command).not.toMatch(hosts);
  expect((await gennai(["check", "curl https://host.test", "--commands", "ask"])).printed).not.toMatch(hosts);
});

test("a command that writes outside the workspace says that this is not kept", async () => {
  const lost = /^ {2}not kept (.*): outside the workspace, and what is written there is gone when it ends$/m;
  const staged = await gennai(["check", "echo hi > /opt/notes.md; echo hi > here.md", "--commands", "staged"]);
  // Where the machine has no sandbox, nothing is staged.
  if (staged.complained !== "") return expect(staged.complained).toContain("sandbox");
  expect(lost.exec(staged.printed)?.[1]).toBe("/opt/notes.md");
  for (const command of ["echo hi > here.md", "echo hi > /tmp/notes.md", "cat /opt/notes.md"])
    expect((await gennai(["check", command])).printed, command).not.toMatch(lost);
  expect((await gennai(["check", "echo hi > /opt/notes.md", "--commands", "ask"])).printed).not.toMatch(lost);
});

test.each([
  [["check", "git status", "--commands", "ask"], 0, /^allow {2}risk low/],
  [["check", "rm README.md"], 3, /^deny .*README\.md must not be deleted/],
  [["check", "--read", "README.md"], 0, /^allow/],
  [["check", "--write", ".git/config"], 3, /control-files\/protected/],
  [["check", "git status", "--json", "--commands", "ask"], 0, /^\{"tool":"Bash","verdict":"allow","outcome":"allow"/],
  [["test"], 0, /ok {2}\.gennai\/rules\.yaml {2}2 rules, 1 example/],
])("%j", async (args, code, printed) => {
  const ran = await gennai(args);
  expect([ran.code, ran.complained]).toEqual([code, ""]);
  expect(ran.printed).toMatch(printed);
});

test("a command that is tried shows each change, and the rule that has a say, and keeps nothing", async () => {
  const kept = await gennai(["check", "--run", "echo hi; echo 1 > made.md", "--commands", "staged"]);
  // Where the machine has no sandbox, nothing is staged.
  if (kept.complained !== "")
    return expect(kept).toMatchObject({ code: 2, complained: expect.stringContaining("sandbox") });
  expect(kept.printed).toMatch(
    /^staged[^]* {2}ran {6}exit code 0; nothing it did was kept\n {11}hi\n {2}allow {4}made\.md {2}create\n/,
  );
  expect(kept.printed).toContain("+++ b/made.md\n");
  expect(kept.code).toBe(0);
  const refused = await gennai(["check", "--run", "node gone.mjs", "--commands", "staged", "--json"]);
  expect(JSON.parse(refused.printed)).toMatchObject({
    trial: {
      verdict: "deny",
      changes: [{ name: "README.md", verdict: "deny", rule: "rules/project/noDeletePaths/1" }],
    },
  });
  expect(refused.code).toBe(3);
  expect(readdirSync(root)).not.toContain("made.md");
  expect(readdirSync(root)).toContain("README.md");
  const unstaged = await gennai(["check", "--run", "ls", "--commands", "ask"]);
  expect(unstaged).toMatchObject({ code: 1, complained: expect.stringContaining("nothing is staged here") });
});

test.each([
  [["check"]],
  [["check", "ls", "--read", "x"]],
  [["check", "--jsonl", "ls"]],
  [["check", "--run"]],
  [["check", "--run", "--write", "x"]],
  [["check", "--run", "--jsonl"]],
])("%j is a usage error", async (args) => {
  expect((await gennai(args)).code).toBe(2);
});

test("replay without a ledger says so", async () => {
  expect(await gennai(["replay"])).toMatchObject({
    code: 1,
    complained: expect.stringContaining("There is no ledger"),
  });
});

test("one answer a line, in order, also for bad lines", async () => {
  const lines = [
    ...['{"id":1,"tool":"bash","input":{"command":"git status"}}', "not json", "", '{"id":"b","tool":"bash"}'],
    ...['{"id":3,"tool":"rm","input":{}}', '{"id":4,"tool":"write","input":{"path":"src/a.ts"}}'],
    ...['{"id":5,"tool":"bash","input":"rm README.md"}', "[]"],
  ];
  const { code, printed } = await gennai(["check", "--jsonl", "--commands", "ask"], lines.join("\n"));
  expect(code).toBe(0);
  const answers = printed
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(answers).toMatchObject([
    { id: 1, verdict: "allow", risk: "low", rules: [], reason: "" },
    { id: null, verdict: "deny", rules: ["policy-check/bad-line"] },
    { id: "b", verdict: "deny", rules: ["policy-check/bad-line"] },
    { id: 3, verdict: "deny", rules: ["gate/registry"] },
    { id: 4, verdict: "allow" },
    { id: 5, verdict: "deny" },
    { id: null, verdict: "deny" },
  ]);
});
