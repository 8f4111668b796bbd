import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import * as z from "zod";
import { inheritedDescriptors } from "./inherited-descriptors.ts";
import { startProcess } from "./start-process.ts";
import type { CommandEnd } from "./started-child.ts";

/** A shell in its own session that waits to be told what to start. */
export interface WaitingShell {
  readonly id: number;
  readonly input: Socket;
  readonly output: Socket;
  /** The socket on which it reports that it goes on, and the number of that descriptor in the shell. */
  readonly said: Socket;
  readonly saidTo: number;
  readonly ended: Promise<CommandEnd>;
  /** From now on, asks the helper regularly whether it still answers, until the shell has ended. */
  watch(): void;
}

/** Milliseconds between questions, and how many may stay unanswered: the helper could be stopped. */
const askEveryMs = 1_000;
const maxUnanswered = 8;

/** The helper's program, as text so that a bundle needs no second file. */
const program = `
const { spawn } = require("node:child_process");
process.on("disconnect", () => process.exit());
// Node tells nothing of it while a handle that was sent was not taken: it never will be when the other side was killed.
setInterval(() => process.ppid === Number(process.argv[1]) || process.exit(), 1_000).unref();
process.on("message", ({ order, environment, stdio, saidTo }) => {
  if (order === undefined) return process.send({ type: "here" });
  const child = spawn("/bin/sh", [], { argv0: "sh", cwd: "/", env: environment, stdio, detached: true });
  child.on("error", () => process.send({ type: "failed", order }));
  if (child.pid === undefined) return;
  child.on("exit", (exitCode, signal) => process.send({ type: "ended", order, exitCode, signal }));
  process.send({ type: "input", order, id: child.pid }, child.stdin);
  process.send({ type: "output", order }, child.stdout);
  process.send({ type: "said", order }, child.stdio[saidTo]);
});
`;

const messageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("here") }),
  z.object({ type: z.literal("failed"), order: z.number() }),
  z.object({ type: z.literal("input"), order: z.number(), id: z.int().positive() }),
  z.object({ type: z.literal("output"), order: z.number() }),
  z.object({ type: z.literal("said"), order: z.number() }),
  z.object({
    type: z.literal("ended"),
    order: z.number(),
    exitCode: z.number().nullable(),
    signal: z.string().nullable(),
  }),
]);

interface Order {
  id?: number;
  input?: Socket;
  output?: Socket;
  said?: Socket;
  readonly saidTo: number;
  readonly ready: PromiseWithResolvers<WaitingShell | undefined>;
  readonly ended: PromiseWithResolvers<CommandEnd>;
}

/**
 * A small process that starts shells for this one and passes them on. Starting a process stops Node for a time that grows with
 * its memory, e.g. 10 ms at 200 MB; the helper stays small. It ends with this process, however that ends.
 */
export class SpawnHelper {
  readonly #process: ChildProcess;
  readonly #orders = new Map<number, Order>();
  /** Numbers of processes whose end is awaited. */
  readonly #watched = new Set<number>();
  #count = 0;
  #hasEnded = false;
  #unanswered = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on("message", (message, handle) => this.#take(message, handle));
    process.on("error", () => this.#end());
    process.on("exit", () => this.#end());
    process.on("disconnect", () => this.#end());
    process.unref();
    process.channel?.unref();
  }

  static start(): SpawnHelper {
    const nothing = openSync("/dev/null", "r+");
    try {
      const inherited = inheritedDescriptors();
      const channel = firstFree(inherited, Number.POSITIVE_INFINITY) ?? 3;
      const stdio = Array.from({ length: Math.max(channel, ...inherited) + 1 }, (_, descriptor) =>
        descriptor === channel ? "ipc" : inherited.includes(descriptor) ? nothing : "ignore",
      );
      const { PATH: path = "", ELECTRON_RUN_AS_NODE: asNode } = process.env;
      const args = ["--max-semi-space-size=1", "--max-old-space-size=64", "-e", program, "--", String(process.pid)];
      return new SpawnHelper(
        startProcess(process.execPath, args, {
          cwd: "/",
          env: { PATH: path, ...(asNode === undefined ? {} : { ELECTRON_RUN_AS_NODE: asNode }) },
          stdio,
          // This process decides about a Ctrl-C at the terminal.
          detached: true,
        }),
      );
    } finally {
      closeSync(nothing);
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Undefined if no helper is available. */
  shell(environment: Readonly<Record<string, string>>): Promise<WaitingShell | undefined> {
    // A shell can name only descriptors of one digit.
    const saidTo = firstFree(inheritedDescriptors(), 9);
    if (saidTo === undefined || this.#hasEnded || !this.#process.connected) return Promise.resolve(undefined);
    this.#count += 1;
    const order: Order = { saidTo, ready: Promise.withResolvers(), ended: Promise.withResolvers() };
    this.#orders.set(this.#count, order);
    const stdio = Array.from({ length: saidTo + 1 }, (_, descriptor) =>
      descriptor < 2 || descriptor === saidTo ? "pipe" : "ignore",
    );
    this.#process.send({ order: this.#count, environment, stdio, saidTo }, (error) => {
      if (error !== null) this.#end();
    });
    return order.ready.promise;
  }

  #take(message: unknown, handle: unknown): void {
    this.#unanswered = 0;
    const parsed = messageSchema.safeParse(message);
    const order = parsed.success && parsed.data.type !== "here" ? this.#orders.get(parsed.data.order) : undefined;
    if (!parsed.success || parsed.data.type === "here" || order === undefined) {
      if (handle instanceof Socket) handle.destroy();
      return;
    }
    const { data } = parsed;
    if (data.type === "failed" || data.type === "ended") {
      this.#orders.delete(data.order);
      this.#watched.delete(data.order);
      if (data.type === "ended") {
        order.ended.resolve({ exitCode: data.exitCode ?? undefined, signal: data.signal ?? undefined });
      }
      order.ready.resolve(undefined);
      return;
    }
    if (data.type === "input") order.id = data.id;
    if (!(handle instanceof Socket)) return;
    handle.unref();
    handle.on("error", () => undefined);
    order[data.type] = handle;
    const { id, input, output, said, saidTo, ended } = order;
    if (id === undefined || input === undefined || output === undefined || said === undefined) return;
    const watch = () => this.#watch(data.order);
    order.ready.resolve({ id, input, output, said, saidTo, ended: ended.promise, watch });
  }

  #watch(order: number): void {
    if (!this.#orders.has(order)) return;
    this.#watched.add(order);
    this.#timer ??= setInterval(() => this.#ask(), askEveryMs).unref();
  }

  #ask(): void {
    if (this.#watched.size === 0) this.#stopAsking();
    else if (this.#unanswered < maxUnanswered) {
      this.#unanswered += 1;
      this.#process.send({}, (error) => {
        if (error !== null) this.#end();
      });
    } else {
      this.#process.kill("SIGKILL");
      this.#end();
    }
  }

  #stopAsking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#unanswered = 0;
  }

  /** Called when nothing reports any more how its shells end. */
  #end(): void {
    this.#hasEnded = true;
    this.#stopAsking();
    for (const { ready, ended } of this.#orders.values()) {
      ready.resolve(undefined);
      ended.resolve({ exitCode: undefined, signal: "unknown: what watched the command was killed" });
    }
    this.#orders.clear();
    this.#watched.clear();
  }
}

function firstFree(taken: readonly number[], last: number): number | undefined {
  for (let descriptor = 3; descriptor <= last; descriptor += 1) if (!taken.includes(descriptor)) return descriptor;
  return undefined;
}
