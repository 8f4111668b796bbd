import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { ServerLoad } from "@gennai/sessions/manager/server-load";
import type { Meter } from "@opentelemetry/api";

/** Milliseconds over which the delay of the event loop is looked at. */
const windowMs = 10_000;

/** Gauges read on demand: the server's load, and the process's own. Disposing stops them. */
export function observeLoad(meter: Meter, load: () => Promise<ServerLoad>): Disposable {
  const gauge = (name: string, description: string, unit: string) =>
    meter.createObservableGauge(name, { description, unit });
  const sessions = gauge("gennai.sessions.open", "Sessions that are open in this server.", "{session}");
  const turns = gauge("gennai.turns.running", "Turns under way.", "{turn}");
  const subscribers = gauge("gennai.subscribers", "Streams of clients.", "{stream}");
  const queue = gauge("gennai.log.queue", "Events that wait for the log.", "{event}");
  const requests = gauge("gennai.bridge.open", "Requests to clients without an answer yet.", "{request}");
  const ready = gauge("gennai.ready", "1 when the server takes new turns, else 0.", "1");
  meter.addBatchObservableCallback(
    async (result) => {
      const now = await load();
      result.observe(sessions, now.sessionsOpen);
      result.observe(turns, now.turnsRunning);
      result.observe(subscribers, now.subscribers);
      result.observe(queue, now.eventsQueued);
      result.observe(requests, now.requestsOpen);
      result.observe(ready, now.ready ? 1 : 0);
    },
    [sessions, turns, subscribers, queue, requests, ready],
  );
  gauge("process.memory.usage", "Memory of this process.", "By").addCallback((result) => {
    result.observe(process.memoryUsage.rss());
  });
  meter
    .createObservableCounter("process.cpu.time", { description: "Processor time of this process.", unit: "s" })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe(user / 1e6, { "cpu.mode": "user" });
      result.observe(system / 1e6, { "cpu.mode": "system" });
    });
  const delay = new EventLoopDelay();
  gauge("nodejs.eventloop.delay.p99", "Delay of the event loop, 99th percentile of 10 s.", "s").addCallback(
    (result) => {
      result.observe(delay.seconds);
    },
  );
  return delay;
}

/** Each reader has its own window: otherwise they would reset each other's measurements. */
class EventLoopDelay implements Disposable {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: 20 });
  readonly #timer: NodeJS.Timeout;
  #last: number | undefined;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => {
      this.#last = this.#now();
      this.#histogram.reset();
    }, windowMs).unref();
  }

  get seconds(): number {
    return this.#last ?? this.#now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #now(): number {
    const nanoseconds = this.#histogram.percentile(99);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0;
  }
}
