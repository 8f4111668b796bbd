import { once } from "node:events";
import type { Socket } from "node:net";
import type { ProcessSession } from "../group/process-table.ts";

/** How the process ended: by itself, or by a signal. */
export interface CommandEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/** A process that leads a session of its own, and the one pipe that takes both of its outputs. */
export interface StartedChild {
  readonly session: ProcessSession;
  readonly output: Socket;
  /** The command's end of the output, as `openedBy` names it. */
  readonly pipe: string | undefined;
  readonly ended: Promise<CommandEnd>;
  /** The output has ended: nobody has it open any more. */
  readonly closed: Promise<void>;
}

/** Resolves when a stream is over, whatever ended it. */
export async function closing(stream: Socket): Promise<void> {
  if (!stream.closed) await once(stream, "close").catch(() => undefined);
}
