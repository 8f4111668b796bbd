import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runUserProgram } from "#keys/login/run-user-program";

const environment = { PATH: process.env["PATH"] };

/** Starts another program that holds its output, and waits for that. */
const nested = (file: string): string => `sleep 300 & echo $! > ${file}; echo begun; wait`;

async function ended(file: string): Promise<boolean> {
  const id = Number(readFileSync(file, "utf8"));
  for (let look = 0; look < 100; look += 1) {
    const state = stateOf(id);
    if (state === undefined || state === "Z") return true;
    await sleep(50);
  }
  return false;
}

function stateOf(id: number): string | undefined {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${id}/stat`, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

test("a helper answers what it was asked", async () => {
  const run = runUserProgram("/bin/cat", [], { environment, input: "asked", signal: new AbortController().signal });
  expect(await run).toEqual({ code: 0, output: "asked" });
});

test("one that takes too long ends with all that it started", async () => {
  await using directory = await temporaryDirectory();
  const file = directory.path("id");
  const options = { environment, signal: new AbortController().signal, timeoutMs: 1000 };
  expect(await runUserProgram("/bin/sh", ["-c", nested(file)], options)).toEqual({
    code: undefined,
    output: "begun\n",
  });
  expect(await ended(file)).toBe(true);
});

test("stopped, it rejects, and ends with all that it started", async () => {
  await using directory = await temporaryDirectory();
  const file = directory.path("id");
  const stop = new AbortController();
  const run = runUserProgram("/bin/sh", ["-c", nested(file)], { environment, signal: stop.signal });
  setTimeout(() => stop.abort(new Error("stopped")), 1000);
  await expect(run).rejects.toThrow("stopped");
  expect(await ended(file)).toBe(true);
});

test("one that prints without end is stopped", async () => {
  const options = { environment, signal: new AbortController().signal };
  expect((await runUserProgram("/bin/sh", ["-c", "yes"], options)).code).toBeUndefined();
});

test("one that is not there has no code", async () => {
  const options = { environment, signal: new AbortController().signal };
  expect(await runUserProgram("/nowhere/at/all", [], options)).toEqual({ code: undefined, output: "" });
});
