import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { settlesWithin } from "#process/settles-within";

/** Keeps this process from everything else. @param ms milliseconds */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("output that came in time is read, also if this process was kept from it until time was up", async () => {
  const child = spawn("/bin/echo", ["hello"], { stdio: ["ignore", "pipe", "inherit"] });
  const settles = settlesWithin(once(child.stdout, "data"), 500);
  block(1_000);
  expect(await settles).toBe(true);
});

test("what does not come is not waited for", async () => {
  expect(await settlesWithin(new Promise(() => undefined), 10)).toBe(false);
});
