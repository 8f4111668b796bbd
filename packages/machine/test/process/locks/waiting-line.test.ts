import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
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
  expect([one, two, three].map((place) => [place.ahead(), place.first()])).toEqual([
    [0, undefined],
    [1, "one"],
    [2, "one"],
  ]);
  two[Symbol.dispose]();
  expect([three.ahead(), three.first()]).toEqual([1, "one"]);
  one[Symbol.dispose]();
  expect([line().first(), three.ahead()]).toEqual(["three", 0]);
  // Anyone who comes after the first places are free is still the last.
  expect(line().join("four").first()).toBe("three");
});

test("each waits for the one right in front, and while nothing happens nobody looks", async () => {
  const { signal } = new AbortController();
  const places = Array.from({ length: 40 }, (_, index) => line().join(`place ${index}`));
  const gone: number[] = [];
  const moved = places.map((place, index) => place.moved(signal).then(() => gone.push(index)));
  await expect.poll(() => gone).toEqual([0]);
  // Each look asks whether a process lives.
  const looks = vi.spyOn(process, "kill");
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(looks).toHaveBeenCalledTimes(0);
  places[7]?.[Symbol.dispose]();
  await expect.poll(() => gone).toEqual([0, 8]);
  expect(looks.mock.calls.length).toBeLessThan(5);
  for (const place of places) place[Symbol.dispose]();
  await Promise.all(moved);
});

test("one who stops waiting is told so", async () => {
  using _one = line().join("one");
  using two = line().join("two");
  const stop = new AbortController();
  const moved = two.moved(stop.signal);
  stop.abort(new Error("stopped"));
  await expect(moved).rejects.toThrow("stopped");
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
  expect([line().first(), mine.first()]).toEqual(["another process", "another process"]);
  const moved = mine.moved(new AbortController().signal);
  await kill();
  await moved;
  expect([line().first(), mine.ahead()]).toEqual(["mine", 0]);
  mine[Symbol.dispose]();
  line().join("next")[Symbol.dispose]();
  expect(readdirSync(join(directory, "line")).filter((name) => /^\d+$/.test(name))).toEqual([]);
});

test("processes that come at once get one place each", async () => {
  await Promise.all(["a", "b", "c", "d"].map(waiter));
  const places = readdirSync(join(directory, "line")).filter((name) => /^\d+$/.test(name));
  expect([places.length, line().join("last").ahead()]).toEqual([4, 4]);
});
