import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { descendantsIn, endProcesses } from "../../src/terminal/end-processes.ts";

test("children of children are found, others not", () => {
  const table = "  1 0\n 10 1\n 11 10\n 12 11\n 13 1\n 14 10\n garbage\n";
  expect(new Set(descendantsIn(table, 10))).toEqual(new Set([11, 12, 14]));
  expect(descendantsIn(table, 99)).toEqual([]);
});

test("a process goes with what it started", async () => {
  const shell = spawn("bash", ["-c", "trap '' TERM HUP INT; (trap '' TERM HUP INT; sleep 30) & echo $!; wait"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [child] = await once(shell.stdout, "data");
  await endProcesses(shell.pid ?? 0);
  await once(shell, "exit");
  const pid = Number(String(child));
  for (let waited = 0; isAlive(pid) && waited < 2000; waited += 20)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isAlive(pid)).toBe(false);
});

test.each([0, -1, 1, Number.NaN])("what is no process of its own, as %d, ends nobody", async (pid) => {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  try {
    await endProcesses(pid);
    expect(kill).not.toHaveBeenCalled();
  } finally {
    kill.mockRestore();
  }
});

/** A process that ended and was not yet collected counts as gone. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
