import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { repositoryTurn } from "#control-watch/repository-turn";
import { ProcessLocks } from "#process/locks/process-lock";
import { branchProject } from "./branch-project.ts";

test("without a sandbox, a test in another working tree does not undo what git was told to do meanwhile", async () => {
  const made = await branchProject({ sandboxed: false });
  await using elsewhere = await temporaryDirectory();
  const tree = join(elsewhere.root, "tree");
  await made.git("worktree", "add", "-q", "-b", "agent", tree);
  const begun = join(elsewhere.root, "begun");
  // It ends when main has moved, or else soon.
  const testing = made.runIn(
    tree,
    "npm test",
    `touch ${begun}; for i in $(seq 20); do [ $(git rev-parse main) = $(git rev-parse work) ] && break; sleep 0.1; done`,
  );
  await expect.poll(() => existsSync(begun)).toBe(true);
  const told = made.run("git update-ref refs/heads/main work && git config user.name told");
  expect((await testing).putBack.files).toEqual([]);
  expect((await told).putBack.files).toEqual([]);
  expect(await made.git("rev-parse", "main")).toBe(await made.git("rev-parse", "work"));
});

test("they go in the order in which they came, and one that is stopped leaves the line", async () => {
  await using directory = await temporaryDirectory();
  const turn = (signal = new AbortController().signal) =>
    repositoryTurn(new ProcessLocks(directory.path("locks")), "/r/.git", { signal });
  const order: string[] = [];
  const stop = new AbortController();
  const first = await turn();
  const line = new ProcessLocks(directory.path("locks")).line("commands /r/.git");
  const stopped = turn(stop.signal);
  await expect.poll(() => line.first()).toBeDefined();
  const waiting = ["second", "third"].map(async (name) => {
    using _turn = await turn();
    order.push(name);
  });
  stop.abort(new Error("stopped by the user"));
  await expect(stopped).rejects.toThrow("stopped by the user");
  expect(order).toEqual([]);
  first[Symbol.dispose]();
  await Promise.all(waiting);
  expect(order).toEqual(["second", "third"]);
  expect(line.first()).toBeUndefined();
});

test("who waits for too long does not run; another repository is not waited for, nor a process that was killed", async () => {
  await using directory = await temporaryDirectory();
  const locks = new ProcessLocks(directory.path("locks"));
  const { signal } = new AbortController();
  const script = `
    import { repositoryTurn } from "#control-watch/repository-turn";
    import { ProcessLocks } from "#process/locks/process-lock";
    const { signal } = new AbortController();
    await repositoryTurn(new ProcessLocks(${JSON.stringify(directory.path("locks"))}), "/r/.git", { signal });
    console.log("has it");
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(other.stdout, "data");
  await expect(repositoryTurn(locks, "/r/.git", { signal, limitMs: 1 })).rejects.toMatchObject({
    code: "repository_busy",
    retryable: true,
  });
  using _elsewhere = await repositoryTurn(locks, "/s/.git", { signal, limitMs: 1 });
  other.kill("SIGKILL");
  await once(other, "exit");
  using _here = await repositoryTurn(locks, "/r/.git", { signal, limitMs: 10_000 });
});
