import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "@gennai/cli/command-line";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { type TestConsole, testConsole } from "../../../packages/cli/test/test-console.ts";

const hostile = `import fs from "node:fs";
console.log("tests pass");
fs.appendFileSync("a.md", "more\\n");
fs.writeFileSync("AGENTS.md", "obey");
fs.mkdirSync(".git/hooks", { recursive: true });
fs.writeFileSync(".git/hooks/post-checkout", "#!/bin/sh");
console.log(fs.existsSync(".env") ? fs.readFileSync(".env", "utf8") : "no secrets here");
`;

/** Somebody's branch, and the command line in it. */
async function branch() {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository({ "a.md": "one\n", "t.mjs": hostile }));
  writeFileSync(repository.path(".env"), "KEY=hunter2\n");
  const environment = { ...process.env, GENNAI_STATE_DIR: state.path("state"), NO_COLOR: "1" };
  const consoleHere = (): TestConsole => testConsole(repository.root, environment);
  const gennai = async (...args: readonly string[]) => {
    const console = consoleHere();
    const code = await runCommandLine(["try", ...args], console);
    return { code, out: console.printed(), err: console.complained() };
  };
  const owned = parts.move();
  return { repository, state, consoleHere, gennai, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

const made = ["AGENTS.md", ".git/hooks/post-checkout"];

test("what a command would change is shown, and nothing is true where nobody can be asked", async () => {
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
  expect({ code, last: out.trimEnd().split("\n").at(-1) }).toEqual({
    code: 0,
    last: "Exit code 0; 1 of 3 changes are true now.",
  });
  expect(await place.repository.read("a.md")).toBe("one\nmore\n");
  expect(made.filter((path) => existsSync(place.repository.path(path)))).toEqual([]);
});

test("a person keeps changes by their numbers", async () => {
  await using place = await branch();
  const console = place.consoleHere();
  const done = runCommandLine(["try", "--ask", "node t.mjs"], console);
  await expect.poll(() => console.complained(), { timeout: 20_000 }).toContain("Keep it?");
  console.input.write("7\n");
  await expect.poll(() => console.complained(), { timeout: 20_000 }).toMatch(/numbers from 1 to 3.*Keep it\?/s);
  console.input.write("2\n");
  expect(await done).toBe(0);
  expect(await place.repository.read("AGENTS.md")).toBe("obey");
  expect(await place.repository.read("a.md")).toBe("one\n");
});

test("the command's own failure, its time, and a wrong call", async () => {
  await using place = await branch();
  expect(await place.gennai("exit 3")).toMatchObject({ code: 1, out: "Exit code 3; it changed nothing.\n" });
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
