import type { SessionEvent } from "@gennai/agent/events/session-event";
import { ServiceError } from "@gennai/machine/service-error";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ClientAnswer } from "#bridge/client-answer";
import { ClientRegistry } from "#bridge/client-registry";
import { PendingRequests } from "#bridge/pending-requests";
import { gateQuestion } from "../../../governance/test/gate/gate-question.ts";

const yes: ClientAnswer = { kind: "confirmation", answer: "yes", scope: "once", reason: "", actionSha256: "" };
const body = { kind: "diagnostics", paths: ["src"] } as const;
const question = gateQuestion({ parts: [{ id: "1", name: "a.txt", rule: "", reason: "", needs: [] }] });
const editor = { clientId: "editor", abilities: new Set(["confirmation"] as const) };

/** A log whose appends end when the test says so. */
class SlowLog {
  readonly epoch = 3;
  readonly events: SessionEvent[] = [];
  slow = false;
  failure: Error | undefined;
  #waiting: (() => void)[] = [];

  async commit(events: readonly SessionEvent[]): Promise<void> {
    if (this.slow) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.failure !== undefined) throw this.failure;
    this.events.push(...events);
  }

  release(): void {
    this.slow = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get resolutions(): readonly string[] {
    return this.events.flatMap((event) => (event.type === "client-request-resolved" ? [event.resolution] : []));
  }
}

function start() {
  const clients = new ClientRegistry();
  const log = new SlowLog();
  const redactor = {
    redact: async (text: string) => text,
    stream: () => ({ push: async (text: string) => text, end: async () => "" }),
  };
  const requests = new PendingRequests({ clients, log: () => log, waitForClientMs: 5000, now: Date.now, redactor });
  const abort = new AbortController();
  const ask = (answerMs = 1000) =>
    requests.ask(body, { ability: "confirmation", turnId: "t", signal: abort.signal, answerMs });
  const requestId = (): string => {
    const event = log.events.find((each) => each.type === "client-request");
    return event?.type === "client-request" ? event.request.requestId : "";
  };
  return { clients, log, requests, abort, ask, requestId };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "ok",
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the clock", () => {
  test("never runs out for what has no end, and tells no deadline", async () => {
    const { clients, log, ask, requests, requestId } = start();
    using _editor = clients.attach({ clientId: "editor", abilities: new Set(["confirmation"]) });
    const asked = ask(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(40 * 24 * 3600_000);
    expect(log.events[0]).toMatchObject({ type: "client-request", request: { deadline: 0 } });
    await requests.answer(requestId(), { kind: "confirmation", answer: "no", reason: "" } as never, "editor");
    expect(await asked).toMatchObject({ type: "answered" });
  });

  test("runs while a client that can answer is attached, in pieces too", async () => {
    const { clients, log, ask } = start();
    const first = clients.attach(editor);
    const end = ask();
    await vi.advanceTimersByTimeAsync(600);
    first[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(3000);
    const second = clients.attach(editor);
    await vi.advanceTimersByTimeAsync(399);
    expect(log.resolutions).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await end).toEqual({ type: "timeout" });
    expect(log.resolutions).toEqual(["timeout"]);
    second[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("does not run for a client that cannot answer; waiting for one that can ends", async () => {
    const { clients, log, ask } = start();
    using _page = clients.attach({ clientId: "page", abilities: new Set(["file-read"] as const) });
    const end = ask();
    await vi.advanceTimersByTimeAsync(4999);
    expect(log.resolutions).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await end).toEqual({ type: "nobody" });
    expect(log.events).toMatchObject([
      { type: "client-request", request: { deadline: 0, ownerEpoch: 3 } },
      { type: "status", state: "waiting-for-client" },
      { type: "client-request-resolved" },
    ]);
  });

  test("a second client neither stops nor restarts it", async () => {
    const { clients, ask } = start();
    using _first = clients.attach(editor);
    const end = ask();
    await vi.advanceTimersByTimeAsync(500);
    const second = clients.attach(editor);
    await vi.advanceTimersByTimeAsync(400);
    second[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(100);
    expect(await end).toEqual({ type: "timeout" });
  });
});

describe("an answer", () => {
  test("ends the waiting once it is durable", async () => {
    const { clients, log, requests, ask, requestId } = start();
    using _client = clients.attach(editor);
    const end = ask();
    await vi.advanceTimersByTimeAsync(0);
    log.slow = true;
    const answered = requests.answer(requestId(), yes, "editor");
    // It has been taken: neither the clock nor another answer can end what is being written.
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await codeOf(requests.answer(requestId(), yes, "other"))).toBe("already_exists");
    log.release();
    await answered;
    expect(await end).toEqual({ type: "answered", answer: yes, clientId: "editor" });
    expect(log.resolutions).toEqual(["answered"]);
  });

  test.each([
    ["a yes", yes, { answer: "yes", scope: "once" }],
    ["a yes to another action", { ...yes, actionSha256: "0" }, { answer: "no" }],
    ["a yes for longer than was offered", { ...yes, scope: "workspace" as const }, { answer: "no" }],
    ["a yes without a part that was not offered", { ...yes, dropped: ["2"] }, { answer: "no" }],
    ["a yes without all parts", { ...yes, dropped: ["1"] }, { answer: "no" }],
    ["a no", { ...yes, answer: "no" as const }, { answer: "no" }],
    ["what is neither", { ...yes, answer: "unclear" as const }, { answer: "no" }],
    ["nobody to ask", { ...yes, answer: "nobody" as const }, { answer: "nobody" }],
  ])("%s is told for what it came to, and whose it is", async (_name, answer, reply) => {
    const { clients, log, requests, requestId, abort } = start();
    using _client = clients.attach(editor);
    const asking = { ability: "confirmation", turnId: "t", signal: abort.signal, answerMs: 1000 } as const;
    const end = requests.ask({ kind: "confirmation", question }, asking);
    await vi.advanceTimersByTimeAsync(0);
    await requests.answer(requestId(), answer, "editor", "alice");
    await end;
    expect(log.events.at(-1)).toMatchObject({
      type: "client-request-resolved",
      clientId: "editor",
      user: "alice",
      reply,
    });
  });

  test("that was taken stands when the turn is stopped meanwhile", async () => {
    const { clients, log, requests, abort, ask, requestId } = start();
    using _client = clients.attach(editor);
    const end = ask();
    await vi.advanceTimersByTimeAsync(0);
    log.slow = true;
    const answered = requests.answer(requestId(), yes, "editor");
    abort.abort();
    log.release();
    await answered;
    expect(await end).toMatchObject({ type: "answered" });
    expect(log.resolutions).toEqual(["answered"]);
  });

  test("is too late while the end is being written", async () => {
    const { clients, log, requests, abort, ask, requestId } = start();
    using _client = clients.attach(editor);
    const end = codeOf(ask());
    await vi.advanceTimersByTimeAsync(0);
    const id = requestId();
    log.slow = true;
    abort.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(await codeOf(requests.answer(id, yes, "editor"))).toBe("failed_precondition");
    log.release();
    expect(await end).toContain("AbortError");
    expect(log.resolutions).toEqual(["cancelled"]);
  });

  test("is too late after the time is up", async () => {
    const { clients, requests, ask, requestId } = start();
    using _client = clients.attach(editor);
    const end = ask();
    await vi.advanceTimersByTimeAsync(1000);
    await end;
    expect(await codeOf(requests.answer(requestId(), yes, "editor"))).toBe("failed_precondition");
  });

  test("that cannot be written leaves nobody waiting", async () => {
    const { clients, log, requests, ask, requestId } = start();
    using _client = clients.attach(editor);
    const end = codeOf(ask());
    await vi.advanceTimersByTimeAsync(0);
    log.failure = new Error("the disk is full");
    expect(await codeOf(requests.answer(requestId(), yes, "editor"))).toContain("the disk is full");
    expect(await end).toContain("the disk is full");
  });
});

test("a request of a turn that is over is never sent", async () => {
  const { log, abort, ask } = start();
  abort.abort();
  expect(await codeOf(ask())).toContain("AbortError");
  expect(log.events).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a turn that is stopped while its request is being written sees it resolved", async () => {
  const { log, abort, ask } = start();
  log.slow = true;
  const end = codeOf(ask());
  await vi.advanceTimersByTimeAsync(0);
  abort.abort();
  log.release();
  expect(await end).toContain("AbortError");
  expect(log.resolutions).toEqual(["cancelled"]);
});

describe("a question to a person", () => {
  const toPerson = { kind: "confirmation", question } as const;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function asked() {
    const parts = start();
    const attached = parts.clients.attach(editor);
    const end = parts.requests.ask(toPerson, {
      ability: "confirmation",
      turnId: "t",
      signal: parts.abort.signal,
      answerMs: 1000,
    });
    return { ...parts, attached, end };
  }

  test("whose count was stopped waits for as long as somebody is there, and every client is told once", async () => {
    const { requests, log, end, requestId, attached } = asked();
    await vi.advanceTimersByTimeAsync(500);
    expect(requests.get(requestId())?.deadline).toBeGreaterThan(0);
    await requests.waitFor(requestId());
    await requests.waitFor(requestId());
    expect(log.events.filter(({ type }) => type === "client-request-waits")).toEqual([
      { type: "client-request-waits", requestId: requestId() },
    ]);
    expect(requests.get(requestId())?.deadline).toBe(0);
    await vi.advanceTimersByTimeAsync(30 * 24 * 3_600_000);
    expect(log.resolutions).toEqual([]);
    attached[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(5001);
    expect(await end).toEqual({ type: "nobody" });
    await expect(requests.waitFor(requestId())).rejects.toMatchObject({ code: "failed_precondition" });
  });

  test("is not ended by a client that has nobody, while another one shows it", async () => {
    const { requests, clients, end, requestId, log } = asked();
    const headless = clients.attach({ clientId: "headless", abilities: new Set(["confirmation"] as const) });
    await vi.advanceTimersByTimeAsync(10);
    expect(requests.leaveToOthers(requestId(), "headless")).toBe(true);
    expect(log.resolutions).toEqual([]);
    await requests.answer(requestId(), yes, "editor");
    expect(await end).toMatchObject({ type: "answered", clientId: "editor" });
    headless[Symbol.dispose]();
  });

  test.each([
    { name: "comes back in time", awayMs: 4_900, end: { type: "answered", clientId: "editor" } },
    { name: "stays away", awayMs: 5_100, end: { type: "nobody" } },
  ])("waits for the only person's page, beside a client that has nobody, and the page $name", async (row) => {
    const { requests, clients, end, requestId, attached } = asked();
    clients.attach({ clientId: "headless", abilities: new Set(["confirmation"] as const) });
    await vi.advanceTimersByTimeAsync(10);
    expect(requests.leaveToOthers(requestId(), "headless")).toBe(true);
    attached[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(row.awayMs);
    if (row.end.type === "answered") {
      clients.attach(editor);
      // Its count stood still meanwhile.
      await vi.advanceTimersByTimeAsync(900);
      await requests.answer(requestId(), yes, "editor");
    }
    expect(await end).toMatchObject(row.end);
  });

  test("is ended by the only client that could ask, if it has nobody", async () => {
    const { requests, requestId } = asked();
    await vi.advanceTimersByTimeAsync(10);
    expect(requests.leaveToOthers(requestId(), "editor")).toBe(false);
  });
});
