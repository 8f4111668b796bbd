import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { holdDirectory, runCommand } from "#process/run-command";

const run = promisify(execFile);
const path = process.env["PATH"] ?? "/usr/bin:/bin";

/** In the environment of all that is started here. */
const mark = randomUUID();

function command(
  text: string,
  env: Readonly<Record<string, string>> = {},
  { cwd = tmpdir(), signal = new AbortController().signal } = {},
) {
  return runCommand(
    {
      argv: ["/bin/bash", "-c", text],
      cwd: holdDirectory(cwd),
      env: { PATH: path, MARK: mark, ...env },
      timeoutMs: 10_000,
    },
    { signal },
  );
}

/** The process that started the shell that waits. */
function helperOf([shell]: readonly number[]): number {
  return Number(readFileSync(`/proc/${shell}/stat`, "latin1").split(" ")[3]);
}

/** What waits is started a moment after a command. */
async function commandAndPause(env: Readonly<Record<string, string>> = {}): Promise<void> {
  await command("true", env);
  await delay(200);
  await expect.poll(() => waitingShells(env)).toHaveLength(1);
}

/** Ids of shells that wait with this environment. */
function waitingShells(env: Readonly<Record<string, string>> = {}): readonly number[] {
  const wanted = Object.entries({ MARK: mark, ...env }).map(([name, value]) => `${name}=${value}`);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        const found = readFileSync(`/proc/${id}/environ`, "latin1").split("\0");
        return readFileSync(`/proc/${id}/cmdline`, "latin1") === "sh\0" && wanted.every((each) => found.includes(each));
      } catch {
        return false;
      }
    });
}

test("a command becomes the shell that waited, and another one waits then", async () => {
  let waiting: number | undefined;
  // A shell is seen in /proc a moment before it can take a command; that one then starts another.
  const taken = async () => {
    await commandAndPause();
    [waiting] = waitingShells();
    const { output } = await command("echo $$");
    return Number(output) === waiting;
  };
  await expect.poll(taken).toBe(true);
  await expect.poll(() => waitingShells()).toHaveLength(1);
  expect(waitingShells()).not.toContain(waiting);
});

test.each([
  [
    "words of any kind",
    String.raw`printf '%s|' "a b" 'it'\''s' "$(printf 'x\ny')" '$HOME' '\' ; echo ä`,
    "a b|it's|x\ny|$HOME|\\|ä\n",
  ],
  [
    "its directory, by its own name",
    "pwd; echo $PWD; /bin/pwd; echo ${OLDPWD-none}",
    `${tmpdir()}\n${tmpdir()}\n${tmpdir()}\nnone\n`,
  ],
  ["no input, and of us only its two outputs", "cat; ls -l /proc/$$/fd | grep -cE 'socket:|gennai-pipes-'", "2\n"],
  ["its own session", 'test "$(ps -o sid= -p $$ | tr -d " ")" = $$ && echo leads', "leads\n"],
])("it has %s", async (_name, text, want) => {
  await commandAndPause();
  expect(await command(text)).toMatchObject({ state: "exited", exitCode: 0, output: want });
});

test("its environment is its own, not that of the command before", async () => {
  await commandAndPause({ FIRST: "1" });
  expect((await command("echo ${FIRST-none} $SECOND", { SECOND: "2" })).output).toBe("none 2\n");
  expect((await command("echo ${FIRST-none} $SECOND", { SECOND: "2" })).output).toBe("none 2\n");
});

test.each([
  ["killed a moment ago", "SIGKILL", 0],
  ["killed", "SIGKILL", 50],
  ["stopped", "SIGSTOP", 0],
] as const)(
  "a shell that was %s while it waited takes no command with it, and none runs twice",
  async (_name, signal, pause) => {
    await commandAndPause();
    for (const id of waitingShells()) process.kill(id, signal);
    if (pause > 0) await delay(pause);
    expect((await command("echo once")).output).toBe("once\n");
  },
);

test("commands at the same time do not share a shell", async () => {
  await commandAndPause();
  const outputs = await Promise.all(Array.from({ length: 8 }, (_, index) => command(`echo ${index} $$`)));
  expect(outputs.map(({ output }) => output.split(" ")[0])).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
  expect(new Set(outputs.map(({ output }) => output.split(" ")[1])).size).toBe(8);
});

test("how a command ends is told as it was: by itself, or by a signal", async () => {
  for (const [text, want] of [
    ["exit 139", { exitCode: 139, signal: undefined }],
    ["kill -SEGV $$", { exitCode: undefined, signal: "SIGSEGV" }],
  ] as const) {
    await commandAndPause();
    expect(await command(text)).toMatchObject({ state: "exited", ...want });
  }
});

test("when the helper is killed its command is ended, no shell waits for nothing, and the next one runs", async () => {
  await commandAndPause();
  const running = command("tail -f /dev/null");
  await delay(300);
  process.kill(helperOf(waitingShells()), "SIGKILL");
  expect(await running).toMatchObject({ exitCode: undefined, signal: expect.stringContaining("unknown") });
  await expect.poll(() => waitingShells()).toEqual([]);
  expect(await command("echo next")).toMatchObject({ exitCode: 0, output: "next\n" });
});

test("when the helper is stopped, a command ends all the same, can be stopped, and the next one runs", async () => {
  const unknown = { exitCode: undefined, signal: expect.stringContaining("unknown") };
  await commandAndPause();
  process.kill(helperOf(waitingShells()), "SIGSTOP");
  expect(await command("echo seen")).toMatchObject({ state: "exited", output: "seen\n", ...unknown });
  await commandAndPause();
  process.kill(helperOf(waitingShells()), "SIGSTOP");
  const began = performance.now();
  const stopped = command("tail -f /dev/null", {}, { signal: AbortSignal.timeout(300) });
  expect(await stopped).toMatchObject({ state: "aborted", survivors: [] });
  expect(performance.now() - began).toBeLessThan(4_000);
  // On a busy machine the shell was seen before it could take that command. Then it takes this one, whose end is not known either.
  expect(await command("echo next")).toMatchObject({ state: "exited", output: "next\n" });
});

test("the shell that waits keeps no process from ending, and ends with it, also when it is killed", async () => {
  const program = (last: string, ending: string) => `
    import { holdDirectory, runCommand } from ${JSON.stringify(import.meta.resolve("#process/run-command"))};
    await runCommand(
      { argv: ["/bin/sh", "-c", "true"], cwd: holdDirectory("/"), env: ${JSON.stringify({ MARK: mark, ENDING: ending })}, timeoutMs: 5000 },
      { signal: new AbortController().signal },
    );
    for await (const _ of process.stdin);
    ${last}`;
  for (const last of ["", "process.exit()", "process.kill(process.pid, 'SIGKILL')"]) {
    const ending = randomUUID();
    const running = run(process.execPath, ["--input-type=module", "-e", program(last, ending)], { timeout: 50_000 });
    const wasEndedByUs = running.then(
      () => false,
      (error: { readonly killed: boolean }) => error.killed,
    );
    await expect.poll(() => waitingShells({ ENDING: ending })).not.toEqual([]);
    running.child.stdin?.end();
    expect(await wasEndedByUs).toBe(false);
    await expect.poll(() => waitingShells({ ENDING: ending })).toEqual([]);
  }
});
