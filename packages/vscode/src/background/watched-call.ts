import type { CallToWatch } from "@gennai/client/host/window-requests";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { callOutput } from "@gennai/client/session/call-output";
import { errorMessage } from "@gennai/protocol/error-message";
import { forTerminal } from "./for-terminal.ts";
import type { Watched } from "./watch-terminal.ts";

export interface WatchedCallOptions {
  readonly session: Pick<AgentSession, "client" | "identity" | "sessionId" | "stopToolCall">;
  readonly call: CallToWatch;
  /** Writes text to a terminal. */
  write(text: string): void;
}

/** A command that a turn waits for, shown in a terminal as it prints. Ctrl+C stops it, not the turn; closing does not. */
export class WatchedCall implements Watched {
  readonly #options: WatchedCallOptions;
  readonly #watching = new AbortController();
  #isRunning = true;

  constructor(options: WatchedCallOptions) {
    this.#options = options;
  }

  async watch(): Promise<void> {
    const { session, call, write } = this.#options;
    write(`\u001b[1m${forTerminal(call.command)}\u001b[0m\r\n`);
    try {
      const meant = { ...call, afterSeq: BigInt(call.afterSeq), sessionId: session.sessionId };
      const options = { identity: session.identity, signal: this.#watching.signal };
      const output = callOutput(session.client, meant, options);
      let next = await output.next();
      for (; next.done !== true; next = await output.next()) write(forTerminal(next.value));
      write(`\r\n\u001b[2m[it has ended: ${forTerminal(next.value)}]\u001b[0m\r\n`);
    } catch (error) {
      if (this.#watching.signal.aborted) return;
      write(`\r\n\u001b[2m[it cannot be watched any more: ${forTerminal(errorMessage(error))}]\u001b[0m\r\n`);
    }
    this.#isRunning = false;
  }

  async input(text: string): Promise<void> {
    if (!text.includes("\u0003") || !this.#isRunning) return;
    const { session, call } = this.#options;
    await session.stopToolCall(call, { signal: AbortSignal.timeout(stopTimeoutMs) });
  }

  async close(): Promise<void> {
    this.#watching.abort();
  }
}

/** Milliseconds. */
const stopTimeoutMs = 30_000;
