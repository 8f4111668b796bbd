import { PassThrough } from "node:stream";
import { runCommandLine } from "#command-line";
import type { Console } from "#terminal/console";

export interface TestConsole extends Console {
  readonly input: PassThrough;
  /** What was printed so far. */
  readonly printed: () => string;
  readonly complained: () => string;
}

/** Streams in memory, no terminal. */
export function testConsole(directory: string, environment: NodeJS.ProcessEnv = {}): TestConsole {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const collect = (stream: PassThrough) => {
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    return () => text;
  };
  return { input, output, errors, directory, environment, printed: collect(output), complained: collect(errors) };
}

/** Runs command lines in a directory, where nobody is there. */
export function commandLine(directory: string, environment?: NodeJS.ProcessEnv) {
  return async (...args: readonly string[]) => {
    const console = testConsole(directory, environment);
    console.input.end();
    const code = await runCommandLine(args, console);
    return { code, out: console.printed(), err: console.complained() };
  };
}
