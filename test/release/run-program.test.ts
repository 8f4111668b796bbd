import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runProgram } from "../../release/gates/run-program.ts";

const { signal } = new AbortController();
const isThere = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

test("a program has ended when it has, though what it left running holds its output; that is ended, and named", async () => {
  const { code, output } = await runProgram("sh", ["-c", "sleep 987 & echo $!; exit 3"], { cwd: "/", signal });
  const [pid = "", ...rest] = output.split("\n");
  expect(code).toBe(3);
  expect(rest.join("\n")).toMatch(/sh ended and left these running, which are ended now:\n\d+ \S+ .*sleep 987/);
  expect(isThere(Number(pid))).toBe(false);
});

test("what left the program's group does not hold it either", async () => {
  const { output } = await runProgram("sh", ["-c", "setsid sleep 30 & echo begun"], { cwd: "/", signal });
  expect(output).toContain("begun");
});

test("one that is stopped can end in order what it started, and it is said what ran", async () => {
  await using directory = await temporaryDirectory();
  const stop = new AbortController();
  const script = "trap 'echo in order > ended; exit 0' TERM; echo $$ > began; while :; do sleep 0.05; done";
  const running = failureOf(runProgram("sh", ["-c", script], { cwd: directory.root, signal: stop.signal }));
  while (!existsSync(directory.path("began"))) await delay(20);
  stop.abort();
  expect(await running).toMatch(/sh was stopped\.\n\nsh is stopped\. These run:\n\d+ \S+ sh -c trap/);
  expect(readFileSync(directory.path("ended"), "utf8")).toBe("in order\n");
});

test("one that does not hear that it is stopped is killed", async () => {
  await using directory = await temporaryDirectory();
  const stop = new AbortController();
  const deaf = "trap '' TERM; echo $$ > began; while :; do sleep 0.05; done";
  const running = failureOf(runProgram("sh", ["-c", deaf], { cwd: directory.root, signal: stop.signal }));
  const began = () => (existsSync(directory.path("began")) ? readFileSync(directory.path("began"), "utf8") : "");
  while (!began().endsWith("\n")) await delay(20);
  stop.abort();
  expect(await running).toMatch("was stopped");
  expect(isThere(Number(began()))).toBe(false);
});

test("one that is not there is an error", async () => {
  expect(await failureOf(runProgram("/no/such/program", [], { cwd: "/", signal }))).toContain("ENOENT");
});

async function failureOf(running: Promise<unknown>): Promise<string> {
  return running.then(
    () => "",
    (error: unknown) => String(error),
  );
}
