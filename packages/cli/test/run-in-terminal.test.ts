import { runInTerminal } from "@gennai/cli/run-in-terminal";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";

const environment = { PATH: process.env["PATH"], SHELL: "/bin/sh", GENNAI_AUTH_TOKEN: "secret" };

function run(command: string, cwd: string, signal = new AbortController().signal) {
  const live: string[] = [];
  const request = { command, cwd, terminalName: "", reveal: undefined };
  const done = runInTerminal(request, { signal, onOutput: (text) => live.push(text), environment });
  return { done, live };
}

test("gives output, as it comes and whole, and the exit code", async () => {
  await using directory = await temporaryDirectory();
  const { done, live } = run("echo out; echo err >&2; pwd; exit 3", directory.root);
  const result = await done;
  expect(result).toMatchObject({ state: "exited", exitCode: 3, truncated: false });
  expect(result.output).toContain("out\n");
  expect(result.output).toContain("err\n");
  expect(result.output).toContain(`${directory.root}\n`);
  expect(live.join("")).toBe(result.output);
});

test("keeps the end of long output, and says so", async () => {
  await using directory = await temporaryDirectory();
  const result = await run("yes 0123456789 | head -c 400000; echo the end", directory.root).done;
  expect(result).toMatchObject({ exitCode: 0, truncated: true });
  expect(result.output.endsWith("the end\n")).toBe(true);
});

test("gives no credential of the server to the command", async () => {
  await using directory = await temporaryDirectory();
  expect((await run('echo "<$GENNAI_AUTH_TOKEN>"', directory.root).done).output).toBe("<>\n");
});

test("ends the whole group when it is aborted", async () => {
  await using directory = await temporaryDirectory();
  const controller = new AbortController();
  const { done, live } = run("echo ready; sleep 60 & sleep 60; touch late", directory.root, controller.signal);
  await expect.poll(() => live.join("")).toBe("ready\n");
  const started = Date.now();
  controller.abort(new Error("over"));
  await expect(done).rejects.toThrow("over");
  expect(Date.now() - started).toBeLessThan(1900);
});

test("says when a directory is not there", async () => {
  await expect(run("ls", "/nowhere/at/all").done).rejects.toThrow(/could not be started/);
});
