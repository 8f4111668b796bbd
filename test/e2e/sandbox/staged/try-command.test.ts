import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "@gennai/cli/command-line";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { commandLine, type TestConsole, testConsole } from "../../../../packages/cli/test/test-console.ts";
import { loopbackService } from "../loopback-service.ts";

const hostile = `import fs from "node:fs";
console.log("tests pass");
fs.appendFileSync("a.md", "more\\n");
fs.writeFileSync("AGENTS.md", "obey");
fs.mkdirSync(".git/hooks", { recursive: true });
fs.writeFileSync(".git/hooks/post-checkout", "#!/bin/sh");
console.log(fs.existsSync(".env") ? fs.readFileSync(".env", "utf8") : "no secrets here");
`;

/** A user's branch, and the command line in it. */
async function branch() {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository({ "a.md": "one\n", "t.mjs": hostile }));
  writeFileSync(repository.path(".env"), "KEY=hunter2\n");
  const environment = { ...process.env, GENNAI_STATE_DIR: state.path("state"), NO_COLOR: "1" };
  const consoleHere = (): TestConsole => testConsole(repository.root, environment);
  const run = commandLine(repository.root, environment);
  const gennai = (...args: readonly string[]) => run("try", ...args);
  const owned = parts.move();
  return { repository, state, consoleHere, run, gennai, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

const made = ["AGENTS.md", ".git/hooks/post-checkout"];

test("what a command would change is shown, and nothing is kept where nobody can be asked", async () => {
  await using place = await branch();
  const { code, out } = await place.gennai("--", "node", "t.mjs");
  expect(code).toBe(3);
  expect(out).toContain("tests pass\nno secrets here\n");
  expect(out).toContain("+more\n");
  expect(out).toMatch(
    /1 {2}control .*\.git.* deny .*\n {3}2 {2}create {3}AGENTS\.md {2}ask .*\n {3}3 {2}update {3}a\.md\n/,
  );
  expect(out).toContain("the workspace is as before");
  expect(await place.repository.read("a.md")).toBe("one\n");
  expect(made.filter((path) => existsSync(place.repository.path(path)))).toEqual([]);
  expect(readdirSync(join(place.state.path("state"), "stages"))).toEqual([]);
});

test("--keep takes what no rule speaks against, --drop nothing", async () => {
  await using place = await branch();
  expect(await place.gennai("--drop", "node t.mjs")).toMatchObject({ code: 0 });
  expect(await place.repository.read("a.md")).toBe("one\n");
  const { code, out } = await place.gennai("--keep", "node t.mjs");
  expect({ code, last: out.trimEnd().split("\n").slice(-2) }).toEqual({
    code: 0,
    last: ["Exit code 0; 1 of 3 changes were kept.", "Undo it: gennai undo --kept"],
  });
  expect(await place.repository.read("a.md")).toBe("one\nmore\n");
  expect(made.filter((path) => existsSync(place.repository.path(path)))).toEqual([]);
});

test("a person keeps changes by their numbers", async () => {
  await using place = await branch();
  const console = place.consoleHere();
  const done = runCommandLine(["try", "--ask", "node t.mjs"], console);
  await expect.poll(() => console.complained()).toContain("Keep it?");
  console.input.write("7\n");
  await expect.poll(() => console.complained()).toMatch(/numbers from 1 to 3.*Keep it\?/s);
  console.input.write("2\n");
  expect(await done).toBe(0);
  expect(await place.repository.read("AGENTS.md")).toBe("obey");
  expect(await place.repository.read("a.md")).toBe("one\n");
});

test("the command's own failure, its time, and a wrong call", async () => {
  await using place = await branch();
  expect(await place.gennai("exit 7")).toMatchObject({ code: 7, out: "Exit code 7; it changed nothing.\n" });
  const late = await place.gennai("--keep", "--timeout", "1", "echo x > late.txt; sleep 30");
  expect(late).toMatchObject({ code: 1 });
  expect(late.out).toContain("It did not end by itself (timed-out); nothing of it was kept");
  expect(existsSync(place.repository.path("late.txt"))).toBe(false);
  expect((await place.gennai("--timeout", "never", "ls")).code).toBe(2);
  expect((await place.gennai("--keep", "--drop", "ls")).code).toBe(2);
  // Words behind -- are words to the shell, too.
  const { out } = await place.gennai("--json", "--", "printf", "%s|", "it's", "a b", "$HOME");
  expect(JSON.parse(out)).toMatchObject({ exitCode: 0, output: "it's|a b|$HOME|", changes: [], kept: [] });
});

test("what was kept is in the ledger and goes back, one after the other, unless somebody changed it since", async () => {
  await using place = await branch();
  const { repository, run } = place;
  expect(await run("undo", "--kept")).toMatchObject({ code: 1, err: expect.stringContaining("nothing to undo") });
  expect((await place.gennai("--keep", "echo two > a.md; echo new > b.md")).code).toBe(0);
  // What no commit has is only given up by name.
  const gone = "git rm -qf a.md; rm b.md";
  expect((await place.gennai("--keep", gone)).out).toContain("throws away your changes");
  expect(["a.md", "b.md"].filter((path) => existsSync(repository.path(path)))).toEqual(["a.md", "b.md"]);
  expect((await place.gennai("--keep", "--include", "a.md", "--include", "b.md", gone)).code).toBe(0);
  expect(["a.md", "b.md"].filter((path) => existsSync(repository.path(path)))).toEqual([]);
  // What another start of the program clears away, a way back is not.
  expect((await place.gennai("--drop", "true")).code).toBe(0);

  expect(await run("undo", "--kept")).toMatchObject({ code: 0, out: "Undone: git rm -qf a.md; rm b.md\n" });
  expect(await repository.read("a.md")).toBe("two\n");
  expect(await repository.git("status", "--porcelain")).toBe(" M a.md\n?? .env\n?? b.md");
  await repository.write("b.md", "mine\n");
  const refused = await run("undo", "--kept");
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("Nothing was undone: b.md");
  expect([await repository.read("a.md"), await repository.read("b.md")]).toEqual(["two\n", "mine\n"]);

  const { out } = await run("ledger", "show");
  const told = out.split("\n").flatMap((line) => /(?:review|applied|undo) .*/.exec(line) ?? []);
  expect(told).toEqual([
    expect.stringContaining("try “echo two > a.md; echo new > b.md”: 2 kept"),
    expect.stringContaining("try “echo two > a.md; echo new > b.md”: 2 kept, a.md, b.md"),
    expect.stringContaining("try “git rm -qf a.md; rm b.md”: 3 kept"),
    expect.stringContaining("try “git rm -qf a.md; rm b.md”: 3 kept, a.md, b.md"),
    expect.stringContaining("undid “git rm -qf a.md; rm b.md”"),
  ]);
  expect((await run("ledger", "verify")).code).toBe(0);
});

const build = `mkdir -p dist/js node_modules/p; for i in $(seq 300); do echo $i > node_modules/p/$i.js; done
echo app > dist/js/app.js; echo map > dist/app.map; echo more >> a.md`;

const asked = { verdict: "ask", rule: "found/ignored", reason: expect.stringContaining("Git ignores") as string };

function changed(name: string, what: string): object {
  const id = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
  return { id, needs: [], name, what: [what], verdict: "allow", rule: "", reason: "", ignored: false };
}

test("what git ignores is one change a directory, and comes along only when it is picked", async () => {
  await using place = await branch();
  const { repository } = place;
  await repository.write(".gitignore", "dist/\nnode_modules\n");
  await repository.git("add", ".gitignore");
  await repository.git("commit", "-qm", "ignore");
  expect(JSON.parse((await place.gennai("--json", "--keep", build)).out)).toEqual({
    state: "exited",
    exitCode: 0,
    output: "",
    leftOut: 0,
    verdict: "ask",
    changes: [
      changed("a.md", "update"),
      { ...changed("dist/ (2 files)", "create"), ignored: true },
      { ...changed("node_modules/ (300 files)", "create"), ignored: true, ...asked },
    ],
    neverKept: [],
    connections: [],
    notes: [],
    diff: expect.stringContaining("and 299 more files in node_modules/ (git ignores it)\n") as string,
    kept: ["a.md"],
    keptInPart: [],
  });
  expect(["dist", "node_modules"].filter((path) => existsSync(repository.path(path)))).toEqual([]);

  expect((await place.gennai("--keep", "--include", "lib", build)).code).toBe(2);
  const { out } = await place.gennai("--keep", "--include", "dist", build);
  expect(out).toContain("Left out, because git ignores it: node_modules/ (300 files)\n");
  expect(await repository.read("dist/js/app.js")).toBe("app\n");
  expect(existsSync(repository.path("node_modules"))).toBe(false);
});

test("what is printed comes as it is printed, all of it; the record of it is bounded", async () => {
  await using place = await branch();
  const console = place.consoleHere();
  const done = runCommandLine(["try", "echo first; until [ -e go ]; do sleep 0.05; done"], console);
  await expect.poll(() => console.printed()).toBe("first\n");
  // The command sees what the workspace had when it began: it is ended from outside.
  process.emit("SIGINT");
  expect(await done).toBe(130);

  const long = "seq 400000";
  const { out } = await place.gennai(long);
  expect(out).toContain("\n399999\n400000\nExit code 0; it changed nothing.\n");
  const { output, leftOut } = JSON.parse((await place.gennai("--json", long)).out);
  expect(output.length).toBeLessThan(1_100_000);
  expect(leftOut).toBeGreaterThan(1_000_000);
});

test("it reaches what the person lets it reach, by --allow or by a yes, and nothing else", async () => {
  await using place = await branch();
  using served = await loopbackService({ "/": "served" });
  const where = `127.0.0.1:${served.port}`;
  const command = `curl -sS --max-time 20 http://${where}/ -o answer.txt`;

  const refused = await place.gennai("--keep", command);
  expect(refused.out).toContain(`[refused: ${where}]`);
  expect(refused.out).toContain(`nobody could be asked. Run it in a terminal, or let it through: --allow ${where}]`);
  expect(refused.code).not.toBe(0);
  expect(existsSync(place.repository.path("answer.txt"))).toBe(false);
  expect((await place.gennai("--allow", "nowhere", command)).code).toBe(2);

  expect(await place.gennai("--keep", "--allow", where, command)).toMatchObject({ code: 0 });
  expect(await place.repository.read("answer.txt")).toBe("served");
  expect((await place.run("ledger", "show")).out).toContain(`let “${command}” reach ${where}`);

  const console = place.consoleHere();
  const done = runCommandLine(["try", "--ask", command.replace("answer", "other")], console);
  await expect.poll(() => console.complained()).toContain("Let it? [once, workspace, no]");
  expect(console.complained()).toContain(`curl wants ${where}`);
  console.input.write("once\n");
  await expect.poll(() => console.complained()).toContain("Keep it?");
  console.input.write("none\n");
  expect(await done).toBe(0);
  expect(console.printed()).toContain("other.txt");

  const { out } = await place.run("policy", "check", "--run", command);
  expect(out).toContain(`Let it through: --allow ${where}`);
  expect((await place.run("policy", "check", "--run", "--allow", where, command)).out).toContain(`reached ${where}`);
});
