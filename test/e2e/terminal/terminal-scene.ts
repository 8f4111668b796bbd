import { writeFileSync } from "node:fs";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { type DrawnTerminal, openTerminal, type TerminalOptions } from "./drawn-terminal.ts";

const program = builtProgram(import.meta.resolve("@gennai/cli/main"));

/** A step of the scripted model. */
export type Step = Readonly<Record<string, unknown>>;

/** A repository, a home, and terminals in which `gennai` runs there. */
export interface TerminalScene extends AsyncDisposable {
  readonly repository: Awaited<ReturnType<typeof temporaryRepository>>;
  readonly state: Awaited<ReturnType<typeof temporaryDirectory>>;
  /** `gennai ARGS` in a terminal of its own. */
  gennai(args?: readonly string[], options?: Partial<TerminalOptions>): DrawnTerminal;
  /** A shell line, for what stands in a terminal before. */
  shell(line: string, options?: Partial<TerminalOptions>): DrawnTerminal;
  /** How `gennai` is typed in such a line. */
  readonly command: string;
}

/** @param turns what the model does, by turn */
export async function terminalScene(
  turns: readonly (readonly Step[])[],
  files: Readonly<Record<string, string>> = { "a.md": "colour\n" },
): Promise<TerminalScene> {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository(files));
  const script = state.path("model.json");
  writeFileSync(script, JSON.stringify({ turns: turns.map((steps) => ({ steps })) }));
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...inherited } = process.env;
  const env = { ...inherited, GENNAI_STATE_DIR: state.root, HOME: state.root, TERM: "xterm-256color" };
  const model = ["--backend", "scripted", "--model", script];
  const at = (options: Partial<TerminalOptions> = {}): TerminalOptions => ({
    cwd: repository.root,
    ...options,
    env: { ...env, ...options.env },
  });
  const owned = parts.move();
  return {
    repository,
    state,
    command: [process.execPath, program].map((word) => JSON.stringify(word)).join(" "),
    gennai: (args = [], options = {}) => {
      const command = args[0]?.startsWith("-") === false ? args : [...model, ...args];
      return owned.use(openTerminal(process.execPath, [program, ...command], at(options)));
    },
    shell: (line, options = {}) => owned.use(openTerminal("/bin/sh", ["-c", line], at(options))),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
