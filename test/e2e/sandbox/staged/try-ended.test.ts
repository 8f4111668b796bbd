import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";

const program = builtProgram(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

/** The real program over a repository; `stages` are the directories of runs that it left. */
async function place() {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository({ "a.md": "one\n" }));
  const stateDir = state.path("state");
  const stages = (): readonly string[] => {
    const directory = join(stateDir, "stages");
    return existsSync(directory) ? readdirSync(directory) : [];
  };
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, [program, "try", ...args], {
      cwd: repository.root,
      env: { ...process.env, GENNAI_STATE_DIR: stateDir, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += String(chunk)));
    const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
      child.on("close", (code, signal) => resolve({ code, signal })),
    );
    return { child, ended, said: () => text };
  };
  const owned = parts.move();
  return { repository, stateDir, stages, start, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

const lasting = "echo changed > a.md; echo here; sleep 60";

test("SIGINT ends a command that is tried: nothing kept, nothing left", async () => {
  await using here = await place();
  const run = here.start("--keep", lasting);
  await expect.poll(run.said).toContain("here\n");
  run.child.kill("SIGINT");
  expect(await run.ended).toEqual({ code: 130, signal: null });
  expect(run.said()).toContain("nothing was kept");
  expect(here.stages()).toEqual([]);
  expect(await here.repository.read("a.md")).toBe("one\n");
});

const atQuestion: readonly [string, (terminal: ChildProcess) => void][] = [
  ["Ctrl-C", (terminal) => terminal.stdin?.write("\x03")],
  ["Ctrl-D", (terminal) => terminal.stdin?.write("\x04")],
  ["a terminal that is closed", (terminal) => terminal.kill("SIGKILL")],
];

test.each(atQuestion)("at the question what to keep: %s keeps nothing, and leaves nothing", async (_name, end) => {
  await using here = await place();
  const words = [process.execPath, program, "try", "echo two > a.md; echo new > b.md"];
  const command = words.map((word) => `'${word}'`).join(" ");
  const terminal = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
    cwd: here.repository.root,
    env: { ...process.env, GENNAI_STATE_DIR: here.stateDir, NO_COLOR: "1" },
  });
  let shown = "";
  for (const stream of [terminal.stdout, terminal.stderr]) stream.on("data", (text: Buffer) => (shown += String(text)));
  await expect.poll(() => shown).toMatch(/Keep it\?.*\] /s);
  const [ofRun = ""] = here.stages();
  expect(ofRun).not.toBe("");
  end(terminal);
  await expect.poll(here.stages).not.toContain(ofRun);
  terminal.kill();
  expect(await here.repository.read("a.md")).toBe("one\n");
  expect(existsSync(here.repository.path("b.md"))).toBe(false);
});

test("what a killed one left is gone with the next, and a living one's stays", async () => {
  await using here = await place();
  const living = here.start("--keep", "echo kept > b.md; echo here; until [ -e /tmp/never ]; do sleep 0.1; done; true");
  await expect.poll(living.said).toContain("here\n");
  // Names of directories begin with the process; it may have made one ahead, for a next command.
  const stagesOf = ({ child }: typeof living) => here.stages().filter((name) => name.startsWith(`${child.pid}-`));
  const [ofLiving = ""] = stagesOf(living);
  const killed = here.start("--keep", lasting);
  await expect.poll(killed.said).toContain("here\n");
  killed.child.kill("SIGKILL");
  await killed.ended;
  expect(stagesOf(killed)).not.toEqual([]);

  const next = here.start("--keep", "echo two > a.md");
  expect((await next.ended).code).toBe(0);
  expect(stagesOf(killed)).toEqual([]);
  expect(stagesOf(living)).toContain(ofLiving);
  // The way back.
  expect(stagesOf(next)).toHaveLength(1);
  expect(await here.repository.read("a.md")).toBe("two\n");

  living.child.kill("SIGTERM");
  expect((await living.ended).code).toBe(143);
  expect(existsSync(here.repository.path("b.md"))).toBe(false);
});
