import { Worker } from "node:worker_threads";
import type { SlowAnswer, SlowExpression, SlowPattern } from "@gennai/governance/rules/compile/slow-pattern";

/** Longer texts are not tried. UTF-16 code units. */
const longest = 4 * 1024;
/**
 * Milliseconds the engine may take for one text, number of tries, and milliseconds without an answer before the worker is
 * killed.
 */
const engineMs = 20;
const attempts = 50;
const silentMs = 2_000;
const startMs = 5_000;
/** Milliseconds without a request before the worker is stopped: each takes some 9 MiB, and each workspace has one. */
const idleMs = 10_000;

/** The worker's program, as text so that a bundle needs no second file. */
const program = `
const { parentPort } = require("node:worker_threads");
const vm = require("node:vm");
const context = vm.createContext(Object.create(null));
const script = new vm.Script("expression.test(text)");
const expressions = new Map();
const cpuMs = () => {
  const used = process.threadCpuUsage?.();
  return used === undefined ? Infinity : (used.user + used.system) / 1000;
};
function run() {
  for (let attempt = 1; ; attempt += 1) {
    const before = cpuMs();
    try {
      return script.runInContext(context, { timeout: ${engineMs} }) ? "match" : "no-match";
    } catch {
      // On a busy machine the time may have passed without the engine having had it.
      if (attempt === ${attempts} || !(cpuMs() - before < ${engineMs} / 2)) return "gave-up";
    }
  }
}
parentPort.on("message", ({ id, source, flags, text }) => {
  let answer = "gave-up";
  try {
    const key = flags + "/" + source;
    let expression = expressions.get(key);
    if (expression === undefined) {
      if (expressions.size > 1000) expressions.clear();
      expression = new RegExp(source, flags);
      expressions.set(key, expression);
    }
    context.expression = expression;
    context.text = text;
    answer = run();
  } catch {}
  parentPort.postMessage({ id, answer });
});
parentPort.postMessage({ id: 0, answer: "no-match" });
`;

interface Pending {
  readonly resolve: (answer: SlowAnswer) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Runs patterns that may backtrack in a worker thread, which starts on first use and does not keep the process alive. A worker
 * that does not answer is killed and its requests count as given up; the next request starts a new one.
 */
export class SlowPatternWorker implements SlowPattern, AsyncDisposable {
  readonly #idleMs: number;
  #worker: Promise<Worker> | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** @param options.idleMs milliseconds without a request before its thread is stopped */
  constructor(options: { readonly idleMs?: number } = {}) {
    this.#idleMs = options.idleMs ?? idleMs;
  }

  async matches(
    { source, flags }: SlowExpression,
    text: string,
    options: { readonly signal: AbortSignal },
  ): Promise<SlowAnswer> {
    options.signal.throwIfAborted();
    if (text.length > longest) return "gave-up";
    let worker: Worker;
    try {
      worker = await (this.#worker ??= this.#start());
    } catch {
      this.#worker = undefined;
      return "gave-up";
    }
    options.signal.throwIfAborted();
    clearTimeout(this.#idle);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        // An answer may be queued behind a busy event loop.
        setImmediate(() => {
          if (this.#pending.has(id)) this.#end(worker);
        });
      }, silentMs);
      this.#pending.set(id, { resolve, timer });
      worker.postMessage({ id, source, flags, text });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = await this.#worker?.catch(() => undefined);
    if (worker !== undefined) {
      this.#end(worker);
      await worker.terminate();
    }
  }

  #start(): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(program, {
        eval: true,
        env: {},
        stdin: false,
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: 64 },
      });
      worker.unref();
      const timer = setTimeout(() => {
        this.#end(worker);
        reject(new Error("the worker for slow patterns did not start"));
      }, startMs);
      worker.on("message", ({ id, answer }: { readonly id: number; readonly answer: SlowAnswer }) => {
        if (id === 0) {
          clearTimeout(timer);
          resolve(worker);
        } else {
          this.#answer(id, answer);
          this.#endWhenIdle(worker);
        }
      });
      const gone = (): void => {
        clearTimeout(timer);
        this.#end(worker);
        reject(new Error("the worker for slow patterns ended"));
      };
      worker.on("error", gone);
      worker.on("exit", gone);
    });
  }

  #answer(id: number, answer: SlowAnswer): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    pending.resolve(answer);
  }

  #endWhenIdle(worker: Worker): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#pending.size === 0) this.#end(worker);
    }, this.#idleMs).unref();
  }

  #end(worker: Worker): void {
    clearTimeout(this.#idle);
    this.#worker = undefined;
    for (const id of [...this.#pending.keys()]) this.#answer(id, "gave-up");
    void worker.terminate();
  }
}
