import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { WaitingLine } from "#process/locks/waiting-line";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gennai-line-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
});

const line = () => new WaitingLine(join(directory, "line"));

test("places are held in the order in which they were taken, and are free when given up", () => {
  expect(line().first()).toBeUndefined();
  const one = line().join("one");
  const two = line().join("two");
  const three = line().join("three");
  expect([one.ahead(), two.ahead(), three.ahead()]).toEqual([[], ["one"], ["one", "two"]]);
  two[Symbol.dispose]();
  expect(three.ahead()).toEqual(["one"]);
  one[Symbol.dispose]();
  expect([line().first(), three.ahead()]).toEqual(["three", []]);
  // Anyone who comes after the first places are free is still the last.
  expect(line().join("four").ahead()).toEqual(["three"]);
});

/** A process that takes a place and keeps it until it is killed. */
async function waiter(what: string) {
  const script = `
    import { WaitingLine } from ${JSON.stringify(import.meta.resolve("#process/locks/waiting-line"))};
    new WaitingLine(${JSON.stringify(join(directory, "line"))}).join(${JSON.stringify(what)});
    process.stdout.write("waits");
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(String((await once(child.stdout, "data"))[0])).toBe("waits");
  return async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
}

test("a process that is killed has no place any more", async () => {
  const kill = await waiter("another process");
  const mine = line().join("mine");
  expect([line().first(), mine.ahead()]).toEqual(["another process", ["another process"]]);
  await kill();
  expect([line().first(), mine.ahead()]).toEqual(["mine", []]);
  mine[Symbol.dispose]();
  line().join("next")[Symbol.dispose]();
  expect(readdirSync(join(directory, "line")).filter((name) => /^\d+$/.test(name))).toEqual([]);
});

test("processes that come at once get one place each", async () => {
  await Promise.all(["a", "b", "c", "d"].map(waiter));
  expect([...line().join("last").ahead()].sort()).toEqual(["a", "b", "c", "d"]);
});
