import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import { subscribe } from "@gennai/client/session/subscription";
import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { verifyWorkspaceLedger } from "@gennai/server/store/ledger/ledger-verify";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { crashOptions, crashTimeout, randomNumbers } from "../crash-options.ts";
import { killProcess } from "../kill-process.ts";

const program = fileURLToPath(new URL("serving-process.ts", import.meta.url));
const token = "t".repeat(43);
const fileSize = 400_000;
const options = crashOptions(5);
const { rounds } = options;
const random = randomNumbers(options.seed);

/** Reads the file, then talks and writes it anew, again and again; each time it is one letter throughout. */
const steps = [
  { tool: { name: "Read", args: { file_path: "big.txt", limit: 1 } } },
  ...[..."bcdefghijklmnopqrstuvwxyz"].flatMap((letter) => [
    { text: { repeat: 60, chunk: `${letter} ` } },
    { delay_ms: 5 },
    { text: { repeat: 60, chunk: `${letter} ` } },
    { tool: { name: "Write", args: { file_path: "big.txt", content: letter.repeat(fileSize) } } },
  ]),
  { text: ["The end."] },
];

test("a server that is killed at any moment loses nothing, doubles nothing, and leaves no half file", {
  timeout: crashTimeout(options),
}, async () => {
  await using state = await temporaryDirectory();
  await using scripts = await temporaryDirectory();
  await using workspace = await temporaryRepository({ "big.txt": "a".repeat(fileSize) });
  await workspace.git("checkout", "--quiet", "-b", "work");
  const script = scripts.path("script.yaml");
  await writeFile(script, JSON.stringify({ turns: [{ match: ".", steps }] }));

  let child = await startChild(0);
  const { port } = child;
  const client = connect({ baseUrl: `http://127.0.0.1:${port}`, token });
  const { sessionId } = await client.startSession({});
  const seen = new Reader(client, sessionId);
  onTestFinished(() => seen.stop());

  const turnIds: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const { turnId } = await client.startTurn({
      sessionId,
      userInput: `round ${round}`,
      clientTurnId: `round-${round}`,
    });
    turnIds.push(turnId);
    await seen.until(({ turnId: of }) => of === turnId);
    await delay(random() * 500);
    await killProcess(child.process);
    // As it was left: old or new, never a part.
    expectWhole(await workspace.read("big.txt"));
    const left = await verifyWorkspaceLedger({ workspaceRoot: workspace.root, stateDir: state.root });
    expect(["ok", "behind_store", "torn_last_line", "missing_file"]).toContain(left.status);
    child = await startChild(port);
    await seen.until(({ turnId: of, event }) => of === turnId && event.case === "status" && isEnd(event.value.state));
    // The same turn again is known, and not begun anew.
    const again = await client.startTurn({ sessionId, userInput: "again", clientTurnId: `round-${round}` });
    expect(again).toMatchObject({ turnId, alreadyStarted: true });
    expectWhole(await workspace.read("big.txt"));
  }

  // One that is left alone ends as it should.
  const last = await client.startTurn({ sessionId, userInput: "at last", clientTurnId: "last" });
  await seen.until(
    ({ turnId, event }) => turnId === last.turnId && event.case === "status" && isEnd(event.value.state),
  );
  await seen.stop();
  const ended = once(child.process, "exit");
  child.process.kill("SIGTERM");
  await ended;

  let lastSeq = 0n;
  for (const { firstSeq, seq } of seen.events) {
    expect([firstSeq, seq >= firstSeq]).toEqual([lastSeq + 1n, true]);
    lastSeq = seq;
  }
  const ends = seen.events.flatMap(({ turnId, event }) =>
    event.case === "status" && isEnd(event.value.state) ? [{ turnId, state: event.value.state }] : [],
  );
  expect(ends.map(({ turnId }) => turnId)).toEqual([...turnIds, last.turnId]);
  expect(ends.at(-1)?.state).toBe(InvokeState.COMPLETED);
  expect(ends.filter(({ state: each }) => each === InvokeState.INTERRUPTED).length).toBeGreaterThan(0);
  const allowed: readonly InvokeState[] = [InvokeState.INTERRUPTED, InvokeState.COMPLETED];
  expect(ends.every(({ state: each }) => allowed.includes(each))).toBe(true);
  expect(await workspace.git("status", "--porcelain")).toBe("M big.txt".padStart(10));

  const report = await verifyWorkspaceLedger({ workspaceRoot: workspace.root, stateDir: state.root });
  expect(report).toMatchObject({ status: "ok", compared: { head: true, store: true } });

  async function startChild(wantedPort: number): Promise<{ readonly process: ChildProcess; readonly port: number }> {
    const served = { port: wantedPort, token, stateDir: state.root, workspace: workspace.root, script };
    const started = spawn(process.execPath, [program, JSON.stringify(served)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void started.kill("SIGKILL"));
    const line = await Promise.race([
      once(started.stdout, "data").then(([chunk]) => String(chunk)),
      once(started, "exit").then(() => Promise.reject(new Error("The server did not start."))),
    ]);
    return { process: started, port: Number(line) };
  }
});

function expectWhole(content: string): void {
  expect(content.length).toBe(fileSize);
  expect(content).toBe((content[0] ?? "").repeat(fileSize));
}

function isEnd(state: InvokeState): boolean {
  return (
    state === InvokeState.COMPLETED ||
    state === InvokeState.ERROR ||
    state === InvokeState.INTERRUPTED ||
    state === InvokeState.CANCELLED
  );
}

/** Follows a session over all of its server's lives. */
class Reader {
  readonly events: InvokeEvent[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #wake = Promise.withResolvers<void>();

  constructor(client: AgentClient, sessionId: string) {
    this.#ended = this.#read(client, sessionId);
    // Whoever waits for an event learns it; see `until`.
    this.#ended.catch(() => undefined);
  }

  async until(matches: (event: InvokeEvent) => boolean): Promise<void> {
    while (!this.events.some(matches)) await Promise.race([this.#wake.promise, this.#ended]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended.catch(() => undefined);
  }

  async #read(client: AgentClient, sessionId: string): Promise<void> {
    const identity = { clientId: "reader", name: "test", version: "0" };
    const backOff = { first: 20, longest: 100 };
    const stream = subscribe(client, { sessionId, afterSeq: 0n, identity, backOff, signal: this.#stop.signal });
    for await (const event of stream) {
      this.events.push(event);
      const { resolve } = this.#wake;
      this.#wake = Promise.withResolvers();
      resolve();
    }
  }
}
