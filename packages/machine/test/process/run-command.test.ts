import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandEnvironment } from "#process/command-environment";
import { type CapturedCommand, holdDirectory, runCommand } from "#process/run-command";

let directory: string;
beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "run-command-")));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

function run(
  command: string,
  options: Partial<CapturedCommand> & {
    readonly signal?: AbortSignal;
    readonly onOutput?: (text: string) => void;
  } = {},
) {
  const { signal, onOutput, ...rest } = options;
  return runCommand(
    { argv: ["/bin/bash", "-c", command], cwd: holdDirectory(directory), env, timeoutMs: 10_000, ...rest },
    { signal: signal ?? new AbortController().signal, ...(onOutput === undefined ? {} : { onOutput }) },
  );
}

function isRunning(id: number): boolean {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}

function idIn(output: string, name: string): number {
  return Number(new RegExp(`${name}=(\\d+)`).exec(output)?.[1]);
}

describe("what a command gives back", () => {
  test.each([
    [
      "output of both streams in order",
      "echo a; echo b >&2; echo c",
      { state: "exited", exitCode: 0, output: "a\nb\nc\n" },
    ],
    [
      "what it writes by the names of its outputs",
      "set -e; echo a >/dev/stdout; echo b >/dev/stderr; echo c >>/proc/self/fd/2; echo d",
      { state: "exited", exitCode: 0, output: "a\nb\nc\nd\n" },
    ],
    ["an exit code", "echo no; exit 3", { state: "exited", exitCode: 3, output: "no\n" }],
    ["nothing", "true", { state: "exited", exitCode: 0, output: "" }],
    ["a signal", "kill -SEGV $$", { state: "exited", exitCode: undefined, signal: "SIGSEGV" }],
    ["a command that is not there", "no-such-program-here", { state: "exited", exitCode: 127 }],
    ["no input", "cat; echo done", { exitCode: 0, output: "done\n" }],
    [
      "no terminal",
      "test -t 0 || test -t 1 || echo none; (echo x > /dev/tty) 2>/dev/null || echo no tty",
      { output: "none\nno tty\n" },
    ],
    ["unicode", "printf 'grüße 🐢\\n'", { output: "grüße 🐢\n" }],
    ["bytes that are not text", "printf 'a\\xff\\n'", { output: "a\uFFFD\n" }],
  ])("%s", async (_name, command, want) => {
    expect(await run(command)).toMatchObject({ leftOut: 0, survivors: [], ...want });
  });

  test("it runs in the directory, with only the environment it was given", async () => {
    process.env["GENNAI_TEST_TOKEN"] = "secret-value";
    const { output } = await run("pwd; env");
    delete process.env["GENNAI_TEST_TOKEN"];
    expect(output).toContain(`${directory}\n`);
    expect(output).not.toContain("secret-value");
  });

  test("output comes live, with no character cut", async () => {
    const pieces: string[] = [];
    const { output } = await run("printf '\\xc3'; sleep 0.1; printf '\\xbc\\n'; sleep 0.1; echo end", {
      onOutput: (text) => pieces.push(text),
    });
    expect(pieces.join("")).toBe("ü\nend\n");
    expect(pieces.length).toBeGreaterThan(1);
    expect(output).toBe("ü\nend\n");
  });

  test("it inherits no descriptor", async () => {
    const { output } = await run("ls -l /proc/self/fd");
    const open = [...output.matchAll(/ (\d+) -> (\S+)/g)].filter(
      ([, , target = ""]) => !/^(\/dev\/null|\/proc\/)/.test(target),
    );
    expect(open.map(([, descriptor]) => descriptor)).toEqual(["1", "2"]);
  });
});

describe("huge output", () => {
  test("the beginning and the end are kept, memory stays small", async () => {
    const before = process.memoryUsage().rss;
    let live = 0;
    const { output, leftOut, exitCode } = await run(
      "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last",
      {
        keepBytes: 10_000,
        onOutput: (text) => {
          live += text.length;
        },
      },
    );
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^first\nx+\n\[\d+ bytes of output left out here\]\nx+\nlast\n$/);
    expect(output.length).toBeLessThan(10_200);
    expect(leftOut).toBe(30_000_000 + "first\n\nlast\n".length - 10_000);
    expect(live).toBeLessThan(10_200);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  });

  test("no character is cut where something is left out", async () => {
    const { output } = await run("for i in $(seq 400); do printf '€🐢ü'; done", { keepBytes: 1001 });
    expect(output).not.toContain("\uFFFD");
    expect(output).toMatch(/^[€🐢ü]+\n\[\d+ bytes of output left out here\]\n[€🐢ü]+$/u);
  });

  test("too much of it ends the command", async () => {
    const result = await run("yes", { maxBytes: 1_000_000 });
    expect(result.state).toBe("too-much-output");
  });
});

describe("nothing is left behind", () => {
  test("a deadline ends the command and its children", async () => {
    const started = performance.now();
    const result = await run("sleep 30 & echo child=$!; sleep 30", { timeoutMs: 200 });
    expect(result.state).toBe("timed-out");
    expect(performance.now() - started).toBeLessThan(1500);
    expect(isRunning(idIn(result.output, "child"))).toBe(false);
  });

  test("processes that ignore SIGTERM are killed, grandchildren too", async () => {
    const result = await run(
      "trap '' TERM; (trap '' TERM; echo grandchild=$BASHPID; sleep 30; sleep 30) & echo child=$!; sleep 30; sleep 30",
      { timeoutMs: 200 },
    );
    expect(result.state).toBe("timed-out");
    expect(result.survivors).toEqual([]);
    expect(isRunning(idIn(result.output, "child"))).toBe(false);
    expect(isRunning(idIn(result.output, "grandchild"))).toBe(false);
  });

  test("an abort ends it", async () => {
    const controller = new AbortController();
    const running = run("echo id=$$; sleep 30", { signal: controller.signal });
    setTimeout(() => controller.abort(), 150);
    const result = await running;
    expect(result).toMatchObject({ state: "aborted", survivors: [] });
    expect(isRunning(idIn(result.output, "id"))).toBe(false);
  });

  test("after an abort nothing starts", async () => {
    await expect(run("echo never", { signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow("stopped");
  });

  test.each([
    ["in the background", "sleep 30 & echo child=$!"],
    ["in the background, without the output", "sleep 30 >/dev/null 2>&1 & echo child=$!"],
    ["with job control, in a group of its own", "set -m; sleep 30 >/dev/null 2>&1 & echo child=$!"],
    ["disowned", "nohup sleep 30 >/dev/null 2>&1 & echo child=$!; disown"],
    ["in another session, holding the output", "setsid bash -c 'echo child=$$; exec sleep 30' & sleep 0.1"],
    ["stopped", "sleep 30 & echo child=$!; kill -STOP $!"],
  ])("a process left %s is ended", async (_name, command) => {
    const started = performance.now();
    const result = await run(command);
    expect(result).toMatchObject({ state: "exited", exitCode: 0, survivors: [] });
    const child = idIn(result.output, "child");
    expect(child).toBeGreaterThan(1);
    expect(isRunning(child)).toBe(false);
    expect(performance.now() - started).toBeLessThan(4000);
  });

  test("200 commands one after the other leave neither zombies nor descriptors", async () => {
    const held = () => readdirSync("/proc/self/fd").length;
    // A shell that waits for the next command holds some, and is there at most moments.
    let most = 0;
    for (let round = 0; round < 200; round += 1) {
      expect((await run(round % 10 === 0 ? "sleep 5 & echo x" : "echo x")).output).toBe("x\n");
      if (round < 20) most = Math.max(most, held());
    }
    // What the last ones held is let go of a moment after their output.
    await expect.poll(held).toBeLessThanOrEqual(most);
    const zombies = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((id) => {
        try {
          const stat = readFileSync(`/proc/${id}/stat`, "latin1");
          const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
          return state === "Z" && Number(parent) === process.pid;
        } catch {
          return false;
        }
      });
    expect(zombies).toEqual([]);
  });
});

describe("the directory", () => {
  test.each([
    ["another directory", (path: string) => mkdirSync(path)],
    ["a link", (path: string) => symlinkSync(tmpdir(), path)],
    ["nothing", () => {}],
  ])("is refused when %s took its place", async (_name, replace) => {
    const path = join(directory, "work");
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    const cwd = holdDirectory(path);
    renameSync(path, `${path}-moved-${performance.now()}`);
    replace(path);
    await expect(run("pwd", { cwd })).rejects.toMatchObject({ code: "directory_changed" });
  });

  test("a program that is not there says so", async () => {
    const result = await run("", { argv: ["/no/such/program"] });
    expect(result.exitCode).toBe(127);
  });
});

describe("commandEnvironment", () => {
  test("passes what is on the list, and nothing that may be a secret", () => {
    expect(
      commandEnvironment({
        PATH: ".:/usr/bin::/bin:node_modules/.bin",
        HOME: "/home/u",
        LC_ALL: "C.UTF-8",
        TERM: "xterm",
        TMPDIR: "/tmp",
        GENNAI_AUTH_TOKEN: "x",
        GITHUB_TOKEN: "x",
        OPENAI_API_KEY: "x",
        AWS_SECRET_ACCESS_KEY: "x",
        SSH_AUTH_SOCK: "/run/agent",
        BASH_ENV: "/evil",
        LD_PRELOAD: "/evil.so",
        NODE_OPTIONS: "--require /evil",
        "BASH_FUNC_ls%%": "() { evil; }",
        https_proxy: "http://user:password@proxy:3128",
        http_proxy: "http://proxy:3128",
      }),
    ).toEqual({
      PATH: "/usr/bin:/bin",
      HOME: "/home/u",
      LC_ALL: "C.UTF-8",
      TMPDIR: "/tmp",
      http_proxy: "http://proxy:3128",
      TERM: "dumb",
      PAGER: "cat",
      GIT_PAGER: "cat",
      EDITOR: "true",
      VISUAL: "true",
      GIT_EDITOR: "true",
      GIT_SEQUENCE_EDITOR: "true",
    });
  });

  test.each([
    ["PYTHONPATH", "/opt/lib", true],
    ["DATABASE_URL", "postgres://localhost/app", true],
    ["NODE_OPTIONS", "--max-old-space-size=4096", true],
    ["AWS_REGION", "eu-west-1", true],
    ["KEYBOARD", "de", true],
    ["DATABASE_URL", "postgres://app:correct-horse@db/app", false],
    ["SERVICE_TOKEN", "x", false],
    ["GENNAI_AUTH", "x", false],
    ["AWS_SECRET_ACCESS_KEY", "x", false],
    ["SSH_AUTH_SOCK", "/run/agent", false],
    ["DEPLOY", "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123", false],
  ])("a variable that the user named: %s=%s is passed: %s", (name, value, isPassed) => {
    expect(commandEnvironment({ [name]: value })).not.toHaveProperty(name);
    expect(Object.hasOwn(commandEnvironment({ [name]: value }, [name]), name)).toBe(isPassed);
  });
});
