import { PassThrough } from "node:stream";
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
