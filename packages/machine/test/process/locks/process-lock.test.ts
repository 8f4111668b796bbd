import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ProcessLocks } from "#process/locks/process-lock";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gennai-locks-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

it.each([false, true])("is held once, and free again when it is given up (its file stays: %s)", (stays) => {
  const locks = new ProcessLocks(directory);
  // The second time, the file may be there already.
  for (const what of ["works", "works again"]) {
    const first = locks.tryAcquire("a", what, { stays });
    const second = new ProcessLocks(directory).tryAcquire("a", "works as well", { stays });
    expect(second).toEqual({ type: "held", pid: process.pid, what });
    expect(locks.tryAcquire(`b ${what}`, "works", { stays }).type).toBe("acquired");
    if (first.type === "acquired") first.lock[Symbol.dispose]();
    expect(locks.holder("a")).toBeUndefined();
  }
  expect(locks.tryAcquire("a", "works").type).toBe("acquired");
});

it("a file that stays keeps its size, and names nobody when the lock is given up", () => {
  const locks = new ProcessLocks(directory);
  const contents = () =>
    readdirSync(directory)
      .filter((name) => /^[0-9a-f]{32}$/.test(name))
      .map((name) => readFileSync(join(directory, name), "utf8"));
  for (let time = 0; time < 3; time += 1) {
    const attempt = locks.tryAcquire("a", "works", { stays: true });
    expect(contents()).toEqual([expect.stringMatching(/"what":"works"} +$/)]);
    if (attempt.type === "acquired") attempt.lock[Symbol.dispose]();
    expect(contents()).toEqual([" ".repeat(4096)]);
  }
});

it("a file that stays is removed when its process ends, unless another process holds the lock", async () => {
  const ended = (last: string) => `
    import { ProcessLocks } from ${JSON.stringify(import.meta.resolve("#process/locks/process-lock"))};
    const locks = new ProcessLocks(${JSON.stringify(directory)});
    for (const name of ["a", "b"]) locks.tryAcquire(name, "works", { stays: true }).lock[Symbol.dispose]();
    ${last}`;
  const run = async (last: string) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", ended(last)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    return { child, gone };
  };
  const held = () => readdirSync(directory).filter((name) => /^[0-9a-f]{32}$/.test(name)).length;
  const first = await run("console.log('waits'); process.stdin.once('data', () => process.exit());");
  await once(first.child.stdout, "data");
  expect(held()).toBe(2);
  const locks = new ProcessLocks(directory);
  const attempt = locks.tryAcquire("a", "works here", { stays: true });
  first.child.stdin.write("go");
  expect((await first.gone)[0]).toBe(0);
  expect(held()).toBe(1);
  expect(locks.holder("a")?.what).toBe("works here");
  if (attempt.type === "acquired") attempt.lock[Symbol.dispose]();
});

/**
 * Runs processes that all take the same locks, one lock after the other: each waits for the word, and the next word comes
 * when all have tried. @returns the names that each of them got
 */
async function race(processes: number, locks: number): Promise<readonly (readonly string[])[]> {
  const script = `
    import { createInterface } from "node:readline";
    import { ProcessLocks } from ${JSON.stringify(import.meta.resolve("#process/locks/process-lock"))};
    const locks = new ProcessLocks(${JSON.stringify(directory)});
    console.log("ready");
    for await (const name of createInterface({ input: process.stdin })) console.log(locks.tryAcquire(name, "races").type);
    `;
  const racers = Array.from({ length: processes }, () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, said: async () => (await lines.next()).value as string | undefined, got: [] as string[] };
  });
  expect(await Promise.all(racers.map(({ said }) => said()))).toEqual(racers.map(() => "ready"));
  for (let index = 0; index < locks; index += 1) {
    const name = `lock ${index}`;
    // None is always the first to hear.
    const order = racers.map((_racer, place) => racers[(place + index) % processes]);
    for (const racer of order) racer?.child.stdin.write(`${name}\n`);
    const answers = await Promise.all(racers.map(({ said }) => said()));
    for (const [place, answer] of answers.entries()) {
      expect(["acquired", "held"]).toContain(answer);
      if (answer === "acquired") racers[place]?.got.push(name);
    }
  }
  // Alive until all have tried.
  await Promise.all(
    racers.map(({ child }) => {
      child.stdin.end();
      return once(child, "exit");
    }),
  );
  return racers.map(({ got }) => got);
}

it("goes to one of several processes that find a dead holder at once", async () => {
  const locks = 200;
  // Their holders are gone when the next ones come.
  await race(1, locks);
  const got = await race(3, locks);
  const names = got.flat();
  expect(names).toHaveLength(locks);
  expect(new Set(names).size).toBe(locks);
  expect(got.filter((own) => own.length > 0).length).toBeGreaterThan(1);
});
