import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ProcessGroup } from "@gennai/machine/process/process-group";
import { startProcess } from "@gennai/machine/process/start-process";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";

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

/**
 * Talks to a program over its standard streams. The program leads its own process group, which `close` ends. By `pid` and `stderr` the
 * library recognizes a program: one that is silent to a question of the newest revision is an older one, and not out of reach.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: Program;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #stderr = "";

  constructor(program: Program) {
    this.#program = program;
  }

  /** The newest of what the program wrote to standard error, or between its messages. */
  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { command, args, environment, cwd } = this.#program;
    const child = startProcess(command, [...args], {
      cwd,
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    let line: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      let rest = chunk;
      for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
        // Joined only when it is complete: otherwise all of it would be copied for each piece.
        this.#read(Buffer.concat([...line, rest.subarray(0, end)]).toString("utf8"));
        rest = rest.subarray(end + 1);
        line = [];
        size = 0;
      }
      line.push(rest);
      size += rest.length;
      if (size <= maxMessageBytes) return;
      line = [];
      this.onerror?.(new Error(`A message is larger than ${maxMessageBytes} bytes.`));
      void this.close();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#keep(text);
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

  /**
   * The specification forbids servers to print anything else (basic/transports, stdio), but one with a line for people has
   * answered all the same: that line is kept with the errors.
   */
  #read(line: string): void {
    if (line.trim() === "") return;
    try {
      this.onmessage?.(deserializeMessage(line.trim()));
    } catch (error) {
      this.#keep(`${line}\n`);
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #keep(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-keptErrors);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin.end();
    await new ProcessGroup({ leader: child.pid, since: child.pid }).end();
  }
}
