import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../../src/process/spawn-helper.ts", import.meta.url));

/** Orders a shell, and never reads what comes back. */
const holder = `
const { SpawnHelper } = await import(${JSON.stringify(source)});
void SpawnHelper.start().shell({ PATH: process.env.PATH });
setTimeout(() => {
  console.log("ordered");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}, 50);
`;

test.runIf(process.platform === "linux")("the helper and its shells end with a process that is killed", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", holder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += String(chunk)));
  await expect.poll(() => said).toContain("ordered");
  const childrenOf = (id: number): readonly number[] =>
    readFileSync(`/proc/${id}/task/${id}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  const family = (): readonly number[] => childrenOf(child.pid ?? 0).flatMap((id) => [id, ...childrenOf(id)]);
  // The helper, and the shell that it has started by now.
  await expect.poll(family).toHaveLength(2);
  const all = family();
  child.kill("SIGKILL");
  await expect.poll(() => all.filter((id) => existsSync(`/proc/${id}`))).toEqual([]);
});
