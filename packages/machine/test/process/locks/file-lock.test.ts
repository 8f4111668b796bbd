import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { tryFileLock } from "#process/locks/file-lock";

const module = import.meta.resolve("#process/locks/file-lock");
let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gennai-file-lock-"));
  file = join(directory, "lock");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function filesOf(pid: number): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).map((name) => readlinkSync(join(directory, name)));
}

/** Whether another process gets the lock now. */
function isFree(path = file): boolean {
  const code = `const { tryFileLock } = await import(${JSON.stringify(module)}); console.log(tryFileLock(${JSON.stringify(path)}) !== undefined);`;
  return (
    execFileSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" }).trim() === "true"
  );
}

test("is held once, by this process and by all", () => {
  for (let round = 0; round < 3; round += 1) {
    const lock = tryFileLock(file);
    expect(lock).toBeDefined();
    expect(tryFileLock(file)).toBeUndefined();
    expect(isFree()).toBe(false);
    lock?.[Symbol.dispose]();
    lock?.[Symbol.dispose]();
    expect(isFree()).toBe(true);
  }
});

test("whoever failed to get it does not let go of it for the one who has it", () => {
  using lock = tryFileLock(file);
  for (let attempt = 0; attempt < 3; attempt += 1) expect(tryFileLock(file)).toBeUndefined();
  expect(lock).toBeDefined();
  expect(isFree()).toBe(false);
});

test("is a lock on the file that stands there now, not on one that stood there", () => {
  tryFileLock(file)?.[Symbol.dispose]();
  renameSync(file, join(directory, "moved"));
  using lock = tryFileLock(file);
  expect(lock).toBeDefined();
  expect(isFree()).toBe(false);
  expect(isFree(join(directory, "moved"))).toBe(true);
});

test.runIf(process.platform === "linux")(
  "whoever waited for a file that was replaced meanwhile gets the lock on the new one",
  async () => {
    const first = tryFileLock(file);
    const code = `const { tryFileLock } = await import(${JSON.stringify(module)}); console.log("waits"); const lock = tryFileLock(${JSON.stringify(file)}, { waitMs: 60_000 }); console.log(lock !== undefined); process.stdin.on("data", () => process.exit());`;
    const waiting = spawn(process.execPath, ["--input-type=module", "--eval", code], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void waiting.kill("SIGKILL"));
    const said = createInterface({ input: waiting.stdout })[Symbol.asyncIterator]();
    expect((await said.next()).value).toBe("waits");
    // Until it has the file open.
    await vi.waitFor(() => expect(filesOf(waiting.pid ?? 0)).toContain(file));
    rmSync(file);
    first?.[Symbol.dispose]();
    expect((await said.next()).value).toBe("true");
    expect(tryFileLock(file)).toBeUndefined();
  },
);

test("a file that is gone is made anew, and one whose directory is gone is an error", () => {
  tryFileLock(file)?.[Symbol.dispose]();
  rmSync(file);
  using lock = tryFileLock(file);
  expect(lock).toBeDefined();
  expect(readdirSync(directory)).toEqual(["lock"]);
  expect(() => tryFileLock(join(directory, "gone", "lock"))).toThrow("ENOENT");
});

test("many files are held at once, and all are free afterwards", () => {
  const files = Array.from({ length: 40 }, (_, number) => join(directory, `lock-${number}`));
  const locks = files.map((path) => tryFileLock(path));
  for (const path of files) expect(tryFileLock(path)).toBeUndefined();
  for (const lock of locks) lock?.[Symbol.dispose]();
  for (const path of files) {
    using lock = tryFileLock(path);
    expect(lock).toBeDefined();
  }
  expect([files[0], files[39]].map((path) => isFree(path))).toEqual([true, true]);
});
