import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { commandLine, testConsole } from "./test-console.ts";

/** A repository and a state directory of its own, and the command line in it. */
export async function cliScene(content: Files) {
  const state = await temporaryDirectory();
  const repository = await temporaryRepository(content);
  const environment = () => ({ GENNAI_STATE_DIR: state.root, PATH: process.env["PATH"], SHELL: "/bin/sh" });
  return {
    repository,
    /** The state directory. */
    state: state.root,
    console: () => testConsole(repository.root, environment()),
    /** Runs a command line; nobody is there. */
    run: (...args: readonly string[]) => commandLine(repository.root, environment())(...args),
    async [Symbol.asyncDispose]() {
      await repository[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}
