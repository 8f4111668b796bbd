import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { runCommandLine } from "#command-line";
import { testConsole } from "./test-console.ts";

/** A repository and a state directory of its own, and the command line in it. */
export async function cliScene(content: Files) {
  const state = await temporaryDirectory();
  const repository = await temporaryRepository(content);
  const console = () =>
    testConsole(repository.root, { GENNAI_STATE_DIR: state.root, PATH: process.env["PATH"], SHELL: "/bin/sh" });
  return {
    repository,
    /** The state directory. */
    state: state.root,
    console,
    /** Runs a command line; nobody is there. */
    async run(...args: readonly string[]) {
      const used = console();
      used.input.end();
      const code = await runCommandLine(args, used);
      return { code, out: used.printed(), err: used.complained() };
    },
    async [Symbol.asyncDispose]() {
      await repository[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}
