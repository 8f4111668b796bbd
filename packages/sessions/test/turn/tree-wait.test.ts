import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { WorkingTreeClaim } from "#session/working-tree-claim";
import { TreeWait } from "#turn/tree-wait";

async function scene() {
  const directory = await temporaryDirectory();
  const locks = new ProcessLocks(join(directory.root, "locks"));
  const holder = new WorkingTreeClaim(locks, "/tree", "holder");
  expect(await holder.claim()).toEqual({ type: "ours" });
  const claimant = new WorkingTreeClaim(locks, "/tree", "waiter");
  const told: string[] = [];
  const emit = (event: { readonly type: string }) => void told.push(event.type);
  return { directory, holder, claimant, told, wait: new TreeWait(claimant, { limitMs: 20_000, emit }), locks };
}

test("calls of one turn that wait at the same time both get the tree", async () => {
  const { directory, holder, claimant, wait, told } = await scene();
  await using _ = directory;
  const { signal } = new AbortController();
  const began = performance.now();
  const both = Promise.all([wait.wait(signal), wait.wait(signal)]);
  await expect.poll(() => told).toContain("status");
  holder[Symbol.dispose]();
  await both;
  expect(await claimant.claim()).toEqual({ type: "ours" });
  // Each of two places would have waited out the limit for the other.
  expect(performance.now() - began).toBeLessThan(15_000);
  claimant[Symbol.dispose]();
});

test("one that is stopped leaves the other in line; when the last is stopped, nobody is", async () => {
  const { directory, holder, claimant, wait, told, locks } = await scene();
  await using _ = directory;
  const [one, other] = [new AbortController(), new AbortController()];
  const first = wait.wait(one.signal);
  const second = wait.wait(other.signal);
  await expect.poll(() => told).toContain("status");
  one.abort(new Error("stopped"));
  await expect(first).rejects.toThrow("stopped");
  expect(locks.line("tree /tree").first()).toBe("session waiter");
  other.abort(new Error("stopped, too"));
  await expect(second).rejects.toThrow("stopped, too");
  await expect.poll(() => locks.line("tree /tree").first()).toBeUndefined();
  holder[Symbol.dispose]();
  await wait.wait(new AbortController().signal);
  expect(await claimant.claim()).toEqual({ type: "ours" });
  claimant[Symbol.dispose]();
});

test("many that wait look at nothing while nothing happens, and get the tree one after the other", async () => {
  const { directory, holder, locks } = await scene();
  await using _ = directory;
  const { signal } = new AbortController();
  const order: number[] = [];
  const turns = Array.from({ length: 30 }, async (_one, index) => {
    using claimant = new WorkingTreeClaim(locks, "/tree", `waiter ${index}`);
    await new TreeWait(claimant, { limitMs: 20_000, emit: () => undefined }).wait(signal);
    expect(await claimant.claim()).toEqual({ type: "ours" });
    order.push(index);
  });
  const looks = vi.spyOn(process, "kill");
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  looks.mockClear();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(looks).toHaveBeenCalledTimes(0);
  holder[Symbol.dispose]();
  await Promise.all(turns);
  expect(order).toEqual(turns.map((_one, index) => index));
});

test("a turn goes on when the process that has the tree ends, however it ends", async () => {
  const { directory, holder, claimant, wait } = await scene();
  await using _ = directory;
  holder[Symbol.dispose]();
  const script = `
    import { ProcessLocks, treeLockName } from ${JSON.stringify(import.meta.resolve("@gennai/machine/process/locks/process-lock"))};
    const { lock } = new ProcessLocks(${JSON.stringify(directory.path("locks"))}).tryAcquire(treeLockName("/tree"), "another");
    process.stdin.once("data", () => lock[Symbol.dispose]());
    process.stdout.write("holds");`;
  const { signal } = new AbortController();
  for (const end of ["release", "kill"]) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    expect(await claimant.claim()).toMatchObject({ type: "held" });
    const waiting = wait.wait(signal);
    if (end === "kill") child.kill("SIGKILL");
    else child.stdin.write("now");
    await waiting;
    expect(await claimant.claim()).toEqual({ type: "ours" });
    claimant[Symbol.dispose]();
    child.kill("SIGKILL");
  }
});
