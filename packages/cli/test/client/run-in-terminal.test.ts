import { spawnSync } from "node:child_process";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runInTerminal } from "#client/run-in-terminal";

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

test("leaves nothing running behind a process that leaves at once", async () => {
  await using directory = await temporaryDirectory();
  const command = "trap '' TERM INT HUP; echo pid $$; while :; do sleep 0.1; done";
  const program = `
    import { runInTerminal } from ${JSON.stringify(import.meta.resolve("#client/run-in-terminal"))};
    const request = { command: ${JSON.stringify(command)}, cwd: ${JSON.stringify(directory.root)}, terminalName: "" };
    runInTerminal(request, {
      signal: new AbortController().signal,
      environment: { PATH: process.env.PATH, SHELL: "/bin/sh" },
      onOutput: (text) => process.stdout.write(text, () => process.exit(130)),
    });`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  const shell = Number(/^pid (\d+)$/m.exec(stdout)?.[1]);
  expect({ status, known: shell > 0 }).toEqual({ status: 130, known: true });
  await expect.poll(() => isRunning(shell)).toBe(false);
});

/** What has ended and waits for somebody to look at its exit code does not run. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}
