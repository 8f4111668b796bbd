/** The streams and surroundings of a command: the process's own, or a test's. */
export interface Console {
  readonly input: NodeJS.ReadStream | NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
  readonly environment: NodeJS.ProcessEnv;
  /** Where the user stands; relative paths start here. */
  readonly directory: string;
}

export function processConsole(): Console {
  for (const stream of [process.stdout, process.stderr]) {
    // A reader that went away, `gennai … | head`, is no fault of ours.
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  return {
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    environment: process.env,
    directory: process.env["GENNAI_INVOKED_FROM"] ?? process.cwd(),
  };
}

export function isTerminal(stream: NodeJS.ReadableStream | NodeJS.WritableStream): boolean {
  return "isTTY" in stream && stream.isTTY === true;
}

/** How the user called us, for commands they may type next. */
export function commandName(environment: NodeJS.ProcessEnv): string {
  return environment["npm_lifecycle_event"] === "start" ? "npm start --" : "gennai";
}
