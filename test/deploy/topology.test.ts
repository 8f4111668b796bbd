import { setTimeout as delay } from "node:timers/promises";
import { subscribe } from "@gennai/client/session/subscription";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { endState, lastOfGapless } from "../e2e/rpc/session-client.ts";
import { Collector } from "../e2e/telemetry/collector.ts";
import { TopologyWorld } from "./topology-world.ts";

const script = [
  { match: "^quick", steps: [{ text: ["Hello."] }] },
  {
    match: "^work",
    steps: [
      ...Array.from({ length: 5 }, (_, step) => [
        { text: { repeat: 10, chunk: `${step} ` } },
        { delay_ms: 500 },
        call("Read", { file_path: "README.md" }),
      ]).flat(),
      { text: ["Done."] },
    ],
  },
];

let world: TopologyWorld;
let collector: Collector;
let turns = 0;

beforeAll(async () => {
  collector = await Collector.start();
  world = await TopologyWorld.start(script, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.endpoint}/v1/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "200",
  });
  await allReady();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const index of world.replicas.keys()) await world.startReplica(index);
  world.balanceAmong([0, 1, 2]);
  await allReady();
});

async function allReady(): Promise<void> {
  for (let look = 0; look < 200; look++) {
    if (world.replicas.every(({ port }) => world.balancer.uses(port))) return;
    await delay(100);
  }
  throw new Error(`Not all replicas are ready.\n${world.output}`);
}

/** A client as the extension and the page have it: it listens through the balancer and comes again when it is cut off. */
class Listening implements AsyncDisposable {
  readonly events: InvokeEvent[] = [];
  readonly states: string[] = [];
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;

  constructor(sessionId: string) {
    this.#reading = this.#read(sessionId);
  }

  async #read(sessionId: string): Promise<void> {
    const options = {
      sessionId,
      afterSeq: 0n,
      signal: this.#stop.signal,
      identity: { clientId: "window-1", name: "test", version: "0" },
      onConnection: ({ state }: { readonly state: string }) => void this.states.push(state),
    };
    try {
      for await (const event of subscribe(world.client, options)) this.events.push(event);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.states.push(`failed: ${String(error)}`);
    }
  }

  async until(what: string, found: () => boolean, milliseconds = 45_000): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while (!found()) {
      if (performance.now() > deadline)
        throw new Error(`${what} did not come: ${this.states.join(", ")}\n${world.output}`);
      await delay(20);
    }
  }

  async endOf(turnId: string): Promise<string> {
    const state = () => endState(this.events.filter((event) => event.turnId === turnId));
    await this.until(`the end of ${turnId}`, () =>
      ["COMPLETED", "ERROR", "CANCELLED", "INTERRUPTED"].includes(state()),
    );
    return state();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }
}

/** A client whose stream goes through that replica, to begin with. */
async function connectedTo(index: number, sessionId: string): Promise<Listening> {
  world.balanceAmong([index]);
  await delay(300);
  // Connections of before would be used again.
  world.balancer.cut();
  const listening = new Listening(sessionId);
  await listening.until("a connection", () => listening.states.includes("connected"));
  world.balanceAmong([0, 1, 2]);
  return listening;
}

/** As clients do it: what is refused because a server goes is asked again. */
async function startTurn(sessionId: string, userInput: string): Promise<string> {
  const clientTurnId = `turn-${turns++}`;
  for (let attempt = 1; ; attempt++) {
    try {
      return (await world.client.startTurn({ sessionId, userInput, clientTurnId })).turnId;
    } catch (error) {
      if (attempt === 100) throw error;
      await delay(250);
    }
  }
}

async function sessionOf(owner: number): Promise<string> {
  return (await world.clientOf(owner).startSession({ interactive: true })).sessionId;
}

describe("what compose.yaml describes, as processes", () => {
  test("a turn through the balancer, and any replica serves it", async () => {
    onTestFailed(() => void process.stderr.write(world.output));
    const { sessionId } = await world.client.startSession({ interactive: true });
    await using listening = new Listening(sessionId);
    expect(await listening.endOf(await startTurn(sessionId, "quick"))).toBe("COMPLETED");
    expect(await listening.endOf(await startTurn(sessionId, "quick"))).toBe("COMPLETED");
    lastOfGapless(listening.events, 0n);
  });

  test("a trace goes on at the replica that owns the session", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const sessionId = await sessionOf(0);
    await using listening = new Listening(sessionId);
    const asked = world.clientOf(1, `00-${traceId}-00f067aa0ba902b7-01`);
    const { turnId } = await asked.startTurn({ sessionId, userInput: "quick", clientTurnId: `turn-${turns++}` });
    expect(await listening.endOf(turnId)).toBe("COMPLETED");
    const ofTurn = () => collector.spans.find(({ attributes }) => attributes["gennai.turn.id"] === turnId);
    await listening.until("its span", () => ofTurn() !== undefined, 10_000);
    expect(ofTurn()).toMatchObject({ traceId, name: "invoke_agent gennai" });
  });

  test("the replica that a client is connected to is killed: the turn goes on, and no event is missing", async () => {
    onTestFailed(() => void process.stderr.write(world.output));
    const sessionId = await sessionOf(0);
    await using listening = await connectedTo(1, sessionId);
    const turnId = await startTurn(sessionId, "work");
    await listening.until("its beginning", () => listening.events.some((event) => event.turnId === turnId));
    await world.end(1, "SIGKILL");
    expect(await listening.endOf(turnId)).toBe("COMPLETED");
    expect(listening.states).toContain("reconnecting");
    lastOfGapless(listening.events, 0n);
  });

  test("the replica that runs a turn is told to end: the turn ends first, the balancer turns away, another one goes on", async () => {
    onTestFailed(() => void process.stderr.write(world.output));
    const sessionId = await sessionOf(0);
    await using listening = await connectedTo(0, sessionId);
    const turnId = await startTurn(sessionId, "work");
    await listening.until("its beginning", () => listening.events.some((event) => event.turnId === turnId));
    const ended = world.end(0, "SIGTERM");
    await listening.until("the balancer to turn away", () => !world.balancer.uses(world.portOf(0)), 5_000);
    expect(await listening.endOf(turnId)).toBe("COMPLETED");
    // compose.yaml gives it 20 s for turns and 30 s in all.
    expect(await ended).toBeLessThan(25_000);
    expect(listening.states).toContain("reconnecting");
    expect(await listening.endOf(await startTurn(sessionId, "quick"))).toBe("COMPLETED");
    lastOfGapless(listening.events, 0n);
  });

  test("the replica that runs a turn is killed: the turn ends interrupted, and the session goes on elsewhere", async () => {
    onTestFailed(() => void process.stderr.write(world.output));
    const sessionId = await sessionOf(2);
    await using listening = new Listening(sessionId);
    const turnId = await startTurn(sessionId, "work");
    await listening.until("its beginning", () => listening.events.some((event) => event.turnId === turnId));
    await world.end(2, "SIGKILL");
    expect(await listening.endOf(turnId)).toBe("INTERRUPTED");
    expect(await listening.endOf(await startTurn(sessionId, "quick"))).toBe("COMPLETED");
    lastOfGapless(listening.events, 0n);
  });
});
