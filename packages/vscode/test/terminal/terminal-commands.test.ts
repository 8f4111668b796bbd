import type { CommandRequest } from "@gennai/protocol/model/session/editor-requests";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { TerminalCommands } from "../../src/terminal/terminal-commands.ts";
import type { CommandTerminal, ExecutionEnd, Terminals } from "../../src/terminal/terminals.ts";

interface Script {
  readonly ready?: boolean;
  readonly directory?: string;
  readonly output?: readonly string[];
  readonly begins?: boolean;
  /** undefined: it runs until it is interrupted; with `stubborn` beyond that. */
  readonly end?: ExecutionEnd;
  readonly stubborn?: boolean;
}

class FakeTerminals implements Terminals {
  readonly said: string[] = [];
  readonly #script: Script;
  #count = 0;

  constructor(script: Script) {
    this.#script = script;
  }

  async create({ cwd }: { readonly cwd: string }): Promise<CommandTerminal> {
    const id = `t${++this.#count}`;
    const say = (what: string) => void this.said.push(`${id} ${what}`);
    const { ready = true, directory = cwd, output = [], begins = true, end, stubborn = false } = this.#script;
    const ended = Promise.withResolvers<ExecutionEnd>();
    if (end !== undefined) ended.resolve(end);
    return {
      id,
      ready: async () => ready,
      directory: async () => directory,
      execute: (command) => {
        say(`types ${command}`);
        return {
          output: (async function* () {
            yield* output;
          })(),
          begun: begins ? Promise.resolve() : new Promise<void>(() => {}),
          end: ended.promise,
        };
      },
      show: () => say("shows"),
      interrupt: () => {
        say("Ctrl-C");
        if (!stubborn) ended.resolve({ type: "exited", exitCode: 130 });
      },
      kill: async () => say("killed"),
      close: () => say("closed"),
    };
  }
}

const timing = { ready: 10, begin: 20, grace: 20, tail: 20 };
const request = (more: Partial<CommandRequest> = {}): CommandRequest => ({
  command: "make",
  cwd: "",
  terminalName: "Gennai",
  reveal: undefined,
  ...more,
});

async function scene(script: Script) {
  const directory = await temporaryDirectory();
  const terminals = new FakeTerminals(script);
  const commands = new TerminalCommands({ terminals, workspace: directory.root, timing });
  let live = "";
  const run = (more: Partial<CommandRequest> = {}, signal = new AbortController().signal) =>
    commands.run(request(more), { signal, onOutput: (text) => void (live += text) });
  return { directory, terminals, commands, run, live: () => live };
}

const exited: ExecutionEnd = { type: "exited", exitCode: 0 };

test("output and exit code are told, without the terminal's own signs", async () => {
  const at = await scene({ output: ["\u001b]633;C\u0007he", "llo\r", "\n"], end: { type: "exited", exitCode: 3 } });
  await using _directory = at.directory;
  expect(await at.run()).toEqual({
    state: "exited",
    exitCode: 3,
    output: "hello\n",
    truncated: false,
    terminalId: "t1",
  });
  expect(at.live()).toBe("hello\n");
});

test.each([
  ["exited, and the shell could not tell", { type: "exited", exitCode: undefined }, "exited"],
  ["closed", { type: "closed" }, "unobserved"],
] as const)("an end that is %s has no exit code", async (_, end, state) => {
  const at = await scene({ end });
  await using _directory = at.directory;
  expect(await at.run()).toMatchObject({ state, exitCode: undefined });
});

test.each([
  ["the shell does not report itself", { ready: false }, "no_shell_integration"],
  ["the shell is elsewhere", { directory: "/elsewhere" }, "wrong_directory"],
] as const)("nothing is typed when %s", async (_, script, code) => {
  const at = await scene({ ...script, end: exited });
  await using _directory = at.directory;
  await expect(at.run()).rejects.toMatchObject({ code, message: expect.stringContaining("nothing was typed") });
  expect(at.terminals.said).toEqual(["t1 shows", "t1 killed"]);
});

test.each([
  ["a directory outside", { cwd: "/" }, "outside_workspace"],
  ["a directory that is not there", { cwd: "/no/such/directory" }, "wrong_directory"],
  ["two lines", { command: "a\nb" }, "bad_command"],
  ["a carriage return", { command: "echo a\r" }, "bad_command"],
  ["a control character", { command: "sleep 1\u0003" }, "bad_command"],
  ["an escape", { command: "echo \u001b[A" }, "bad_command"],
  ["a direction that nobody sees", { command: "echo \u202e" }, "bad_command"],
])("%s opens no terminal", async (_, more, code) => {
  const at = await scene({ end: exited });
  await using _directory = at.directory;
  await expect(at.run(more)).rejects.toMatchObject({ code });
  expect(at.terminals.said).toEqual([]);
});

test("a shell that does not say that it began is ended", async () => {
  const at = await scene({ begins: false });
  await using _directory = at.directory;
  await expect(at.run()).rejects.toMatchObject({ code: "not_observed" });
  expect(at.terminals.said.at(-1)).toBe("t1 killed");
});

test.each([
  ["a command", {}],
  ["one that does not listen", { stubborn: true }],
])("a stop interrupts %s, and then ends its terminal", async (_, script) => {
  const at = await scene(script);
  await using _directory = at.directory;
  const controller = new AbortController();
  const running = at.run({}, controller.signal);
  setTimeout(() => controller.abort(new Error("stopped")), 10);
  await expect(running).rejects.toThrow("stopped");
  expect(at.terminals.said).toEqual(["t1 shows", "t1 types make", "t1 Ctrl-C", "t1 killed"]);
});

test("every command has a terminal of its own; the one before is closed", async () => {
  const at = await scene({ end: exited });
  await using _directory = at.directory;
  await at.run({ reveal: false });
  await at.run({ reveal: false });
  expect(at.terminals.said).toEqual(["t1 types make", "t1 closed", "t2 types make"]);
  await at.commands[Symbol.asyncDispose]();
  expect(at.terminals.said.at(-1)).toBe("t2 closed");
});

test("too much output keeps its end", async () => {
  const at = await scene({ output: ["x".repeat(300 * 1024), "end"], end: exited });
  await using _directory = at.directory;
  const run = await at.run();
  expect(run.truncated).toBe(true);
  expect(run.output).toHaveLength(256 * 1024);
  expect(run.output.endsWith("end")).toBe(true);
});
