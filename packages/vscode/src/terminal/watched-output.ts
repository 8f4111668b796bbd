import { type BackgroundRun, backgroundOutput, stopBackgroundRun } from "@gennai/client/background-runs";
import type { AgentClient } from "@gennai/client/connection/connection";
import type { CallToWatch } from "@gennai/client/host/window-requests";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { callOutput } from "@gennai/client/session/call-output";
import { errorMessage } from "@gennai/protocol/error-message";

/** Something that runs elsewhere and prints. */
export interface RunningOutput {
  readonly command: string;
  /** As its end is told, e.g. `b1`. */
  readonly name: string;
  /** What it prints. @returns how it ended */
  output(signal: AbortSignal): AsyncGenerator<string, string>;
  stop(): Promise<void>;
  /** Asks the user when its terminal is closed while it runs; true: stop it. Absent: it goes on. */
  askToStop?(): Promise<boolean>;
}

/** Milliseconds. */
const stopTimeoutMs = 30_000;

/** A command that a turn waits for. Stopping it does not stop the turn. */
export function runningCall(
  session: Pick<AgentSession, "client" | "identity" | "sessionId" | "stopToolCall">,
  call: CallToWatch,
): RunningOutput {
  const meant = { ...call, afterSeq: BigInt(call.afterSeq), sessionId: session.sessionId };
  return {
    command: call.command,
    name: "it",
    output: (signal) => callOutput(session.client, meant, { identity: session.identity, signal }),
    stop: async () => {
      await session.stopToolCall(call, { signal: AbortSignal.timeout(stopTimeoutMs) });
    },
  };
}

export function backgroundRun(
  client: AgentClient,
  sessionId: string,
  { id, command }: Pick<BackgroundRun, "id" | "command">,
): Omit<RunningOutput, "askToStop"> {
  const meant = { sessionId, runId: id };
  return {
    command,
    name: id,
    async *output(signal) {
      return (yield* backgroundOutput(client, meant, { follow: true, signal })).end;
    },
    stop: async () => {
      await stopBackgroundRun(client, meant);
    },
  };
}

/** Shown in a terminal as it prints. Ctrl+C stops it. */
export class WatchedOutput {
  readonly #running: RunningOutput;
  readonly #write: (text: string) => void;
  readonly #watching = new AbortController();
  #isRunning = true;

  /** @param write writes text to a terminal */
  constructor(running: RunningOutput, write: (text: string) => void) {
    this.#running = running;
    this.#write = write;
  }

  /** Resolves when it has ended, or is no longer watched. Never rejects. */
  async watch(): Promise<void> {
    const { command, name, output } = this.#running;
    this.#write(`\u001b[1m${forTerminal(command)}\u001b[0m\r\n`);
    try {
      const printed = output(this.#watching.signal);
      let next = await printed.next();
      for (; next.done !== true; next = await printed.next()) this.#write(forTerminal(next.value));
      this.#note(`${name} has ended: ${next.value}`);
    } catch (error) {
      if (this.#watching.signal.aborted) return;
      // Its state is unknown; the server is asked again at the next watch.
      this.#note(`${name} cannot be watched any more: ${errorMessage(error)}`);
    }
    this.#isRunning = false;
  }

  /** Text that the user typed. */
  async input(text: string): Promise<void> {
    if (text.includes("\u0003")) await this.#stop();
  }

  /** The user closed the terminal. */
  async close(): Promise<void> {
    this.#watching.abort();
    if (this.#isRunning && (await this.#running.askToStop?.()) === true) await this.#stop();
  }

  async #stop(): Promise<void> {
    if (this.#isRunning) await this.#running.stop();
  }

  #note(words: string): void {
    this.#write(`\r\n\u001b[2m[${forTerminal(words)}]\u001b[0m\r\n`);
  }
}

/** Text for a terminal, with CR LF for each line feed. Without control characters, it cannot steer the terminal. */
function forTerminal(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "").replaceAll("\n", "\r\n");
}
