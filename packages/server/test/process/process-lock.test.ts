import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessLocks } from "@gennai/server/process/process-lock";
import { afterEach, beforeEach, expect, it } from "vitest";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gennai-locks-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("is held once, and free again when it is given up", () => {
  const locks = new ProcessLocks(directory);
  const first = locks.tryAcquire("a", "works");
  const second = new ProcessLocks(directory).tryAcquire("a", "works as well");
  expect(second).toEqual({ type: "held", pid: process.pid, what: "works" });
  expect(locks.tryAcquire("b", "works").type).toBe("acquired");
  if (first.type === "acquired") first.lock[Symbol.dispose]();
  expect(locks.holder("a")).toBeUndefined();
  expect(locks.tryAcquire("a", "works").type).toBe("acquired");
});

/** Runs processes that all take the same locks, each at the same instant. @returns the names that each of them got */
async function race(processes: number, locks: number): Promise<readonly (readonly string[])[]> {
  const script = `
    import { ProcessLocks } from ${JSON.stringify(import.meta.resolve("@gennai/server/process/process-lock"))};
    const locks = new ProcessLocks(${JSON.stringify(directory)});
    process.stdout.write("ready");
    process.stdin.once("data", (start) => {
      const got = [];
      for (let index = 0; index < ${locks}; index++) {
        while (Date.now() < Number(start) + 3 * index);
        if (locks.tryAcquire("lock " + index, "races").type === "acquired") got.push("lock " + index);
      }
      process.stdout.write(JSON.stringify(got));
    });`;
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  await Promise.all(children.map((child) => once(child.stdout, "data")));
  const start = `${Date.now() + 100}`;
  const said = children.map(async (child) => {
    child.stdin.write(start);
    const [got] = await once(child.stdout, "data");
    return JSON.parse(String(got)) as readonly string[];
  });
  const got = await Promise.all(said);
  // Alive until all have tried.
  for (const child of children) child.stdin.end();
  await Promise.all(children.map((child) => once(child, "exit")));
  return got;
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
