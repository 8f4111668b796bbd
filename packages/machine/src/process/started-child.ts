import { once } from "node:events";
import type { Socket } from "node:net";
import type { ProcessSession } from "./process-table.ts";

/** How the process ended: by itself, or by a signal. */
export interface CommandEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/** A process that leads its own session, and the one pipe for both of its outputs. */
export interface StartedChild {
  readonly session: ProcessSession;
  readonly output: Socket;
  /** The command's end of the output pipe, as named by `openedBy`. */
  readonly pipe: string | undefined;
  readonly ended: Promise<CommandEnd>;
  /** Resolves when the output has ended: no process has it open any more. */
  readonly closed: Promise<void>;
}

/** Resolves when a stream has ended, for whatever reason. */
export async function closing(stream: Socket): Promise<void> {
  if (!stream.closed) await once(stream, "close").catch(() => undefined);
}
