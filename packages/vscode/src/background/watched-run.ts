import { type BackgroundRun, backgroundOutput, stopBackgroundRun } from "@gennai/client/background-runs";
import type { AgentClient } from "@gennai/client/connection/connection";
import { errorMessage } from "@gennai/protocol/error-message";
import { forTerminal } from "./for-terminal.ts";
import type { Watched } from "./watch-terminal.ts";

export interface WatchedRunOptions {
  readonly client: AgentClient;
  readonly sessionId: string;
  readonly run: Pick<BackgroundRun, "id" | "command">;
  /** Writes text to a terminal. */
  write(text: string): void;
  /** Called when the terminal is closed while the run goes on. Asks the user; true: end the run. */
  askToStop(): Promise<boolean>;
}

/** A background run: a terminal shows its output as it comes. Ctrl+C ends the run; closing the terminal asks. */
export class WatchedRun implements Watched {
  readonly #options: WatchedRunOptions;
  readonly #watching = new AbortController();
  #isRunning = true;

  constructor(options: WatchedRunOptions) {
    this.#options = options;
  }

  async watch(): Promise<void> {
    const { client, sessionId, run, write } = this.#options;
    write(`\u001b[1m${forTerminal(run.command)}\u001b[0m\r\n`);
    try {
      const meant = { sessionId, runId: run.id };
      const output = backgroundOutput(client, meant, { follow: true, signal: this.#watching.signal });
      let next = await output.next();
      for (; next.done !== true; next = await output.next()) write(forTerminal(next.value));
      this.#isRunning = next.value.isRunning;
      write(`\r\n\u001b[2m[${run.id} has ended: ${forTerminal(next.value.end)}]\u001b[0m\r\n`);
    } catch (error) {
      if (this.#watching.signal.aborted) return;
      // The state of the run is unknown; the server is asked again at the next watch.
      this.#isRunning = false;
      write(`\r\n\u001b[2m[${run.id} cannot be watched any more: ${forTerminal(errorMessage(error))}]\u001b[0m\r\n`);
    }
  }

  async input(text: string): Promise<void> {
    if (text.includes("\u0003")) await this.#stop();
  }

  async close(): Promise<void> {
    this.#watching.abort();
    if (this.#isRunning && (await this.#options.askToStop())) await this.#stop();
  }

  async #stop(): Promise<void> {
    if (!this.#isRunning) return;
    const { client, sessionId, run } = this.#options;
    await stopBackgroundRun(client, { sessionId, runId: run.id });
  }
}
