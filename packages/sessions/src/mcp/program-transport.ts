import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ProcessGroup } from "@gennai/machine/process/group/process-group";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}

/** Maximum bytes of a message from a server. */
const maxMessageBytes = 16 * 1024 * 1024;
/** Characters kept of the newest standard error output. */
const keptErrors = 2_000;

/** Talks to a program over its standard streams. The program leads its own process group, which `close` ends. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: Program;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #errors = "";

  constructor(program: Program) {
    this.#program = program;
  }

  /** The newest of what the program wrote to standard error. */
  get errors(): string {
    return this.#errors;
  }

  async start(): Promise<void> {
    const { command, args, environment, cwd } = this.#program;
    const child = spawn(command, [...args], { cwd, env: environment, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.#child = child;
    const buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes });
    // Joined only when a message is complete: the buffer would scan and copy everything for each piece.
    let pieces: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      try {
        pieces.push(chunk);
        size += chunk.length;
        if (size <= maxMessageBytes && !chunk.includes(0x0a)) return;
        buffer.append(Buffer.concat(pieces));
        pieces = [];
        size = 0;
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
          this.onmessage?.(message);
        }
      } catch (error) {
        // After an error, message boundaries are lost.
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
        void this.close();
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-keptErrors);
    });
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.once("close", () => this.onclose?.());
    await once(child, "spawn");
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable) throw new Error("The program is no longer running.");
    if (!stdin.write(serializeMessage(message))) await once(stdin, "drain");
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin.end();
    await new ProcessGroup({ leader: child.pid, since: child.pid }).end();
  }
}
