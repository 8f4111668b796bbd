import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AgentClient, connect, connectPlans } from "@gennai/client/connection/connection";
import type { Editor } from "@gennai/client/connection/editor";
import { AgentSession } from "@gennai/client/session/agent-session";
import { SessionPlans } from "@gennai/client/session-plans";
import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { killProcess } from "../kill-process.ts";
import { servingChild, token } from "./serving-child.ts";

export const fileSize = 400_000;
export const never = { signal: new AbortController().signal };

/** A server in a process of its own, over a store and a workspace that outlive it. */
export class CrashWorld implements AsyncDisposable {
  readonly workspace: Awaited<ReturnType<typeof temporaryRepository>>;
  readonly client: AgentClient;
  readonly stateDir: string;
  readonly #options: { readonly port: number; readonly script: string };
  readonly #parts: AsyncDisposableStack;
  #child: ChildProcess;

  /** @param files of the workspace besides the large one */
  static async open(turns: readonly unknown[], files: Readonly<Record<string, string>> = {}): Promise<CrashWorld> {
    await using parts = new AsyncDisposableStack();
    const state = parts.use(await temporaryDirectory({ "script.json": JSON.stringify({ turns }) }));
    const workspace = parts.use(await temporaryRepository({ ...files, "big.txt": "a".repeat(fileSize) }));
    await workspace.git("checkout", "--quiet", "-b", "work");
    const script = state.path("script.yaml");
    await writeFile(script, JSON.stringify({ turns }));
    const stateDir = state.path("state");
    const first = await servingChild({ port: 0, script, stateDir, workspace: workspace.root });
    const options = { port: first.port, script, stateDir };
    return new CrashWorld(workspace, first.child, options, parts.move());
  }

  private constructor(
    workspace: CrashWorld["workspace"],
    child: ChildProcess,
    options: { readonly port: number; readonly script: string; readonly stateDir: string },
    parts: AsyncDisposableStack,
  ) {
    this.workspace = workspace;
    this.#child = child;
    this.#options = options;
    this.stateDir = options.stateDir;
    this.#parts = parts;
    this.client = connect(this.#connection);
  }

  get #connection() {
    return { baseUrl: `http://127.0.0.1:${this.#options.port}`, token };
  }

  plans(sessionId: string): SessionPlans {
    return new SessionPlans(connectPlans(this.#connection), sessionId);
  }

  /** Kills the server, looks at what it left, and starts the next one. @param damage done to the state directory in between */
  async crash(damage?: (stateDir: string) => Promise<void>): Promise<void> {
    await killProcess(this.#child);
    await this.expectWholeFiles();
    const { status, message } = await this.verify();
    assert.ok(["ok", "behind_store", "torn_last_line", "missing_file"].includes(status), message);
    await damage?.(this.stateDir);
    const started = await servingChild({ ...this.#options, stateDir: this.stateDir, workspace: this.workspace.root });
    this.#child = started.child;
  }

  /** The server's answer on whether it accepts new turns. */
  async ready(): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(`${this.#connection.baseUrl}/readyz`);
    return { status: response.status, body: await response.json() };
  }

  verify() {
    return verifyWorkspaceLedger({ workspaceRoot: this.workspace.root, stateDir: this.stateDir });
  }

  /** Has the server end by itself: its ledger agrees with the store and the signed head, and nothing else lies about. */
  async end(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
    assert.partialDeepStrictEqual(await this.verify(), { status: "ok", compared: { head: true, store: true } });
    const changed = (await this.workspace.git("status", "--porcelain")).split("\n");
    const strange = changed.filter(
      (line) => line !== "" && !/^(?: M big|\?\? (?:asked|(?:plan|count)-\d+))\.txt$/.test(line),
    );
    assert.deepEqual(strange, []);
  }

  async expectWholeFiles(): Promise<void> {
    const content = await this.workspace.read("big.txt");
    assert.equal(content.length, fileSize);
    assert.equal(content, content.charAt(0).repeat(fileSize));
  }

  /** Sound, and compared with the store and the signed head. */
  async expectSoundLedger(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const { status, message } = await this.verify();
      if (status === "ok") return;
      // The server writes the file a moment after the store.
      assert.ok(tries < 20 && ["behind_store", "torn_last_line", "missing_file"].includes(status), message);
    }
  }

  /** How often a line was added to a file, whatever is in it. */
  async linesOf(path: string): Promise<number> {
    const text = await this.workspace.read(path).catch(() => "");
    return text.split("\n").length - 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killProcess(this.#child);
    await this.#parts.disposeAsync();
  }
}

/** A client that follows one session over all of its server's lives, and answers what it is asked. */
export class SessionFollower implements AsyncDisposable {
  readonly session: AgentSession;
  readonly events: InvokeEvent[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #wake = Promise.withResolvers<void>();

  static async start(world: CrashWorld, mode: "branch" | "proposal", editor: Editor): Promise<SessionFollower> {
    const identity = { clientId: `follower-${mode}`, name: "test", version: "0", editor };
    const session = await AgentSession.start(
      world.client,
      identity,
      { editingMode: mode },
      { interactive: true, ...never },
    );
    return new SessionFollower(session);
  }

  private constructor(session: AgentSession) {
    this.session = session;
    this.#ended = this.#follow();
    // Anyone who waits for an event learns it.
    this.#ended.catch(() => undefined);
  }

  async until<Found>(find: (events: readonly InvokeEvent[]) => Found | undefined): Promise<Found> {
    // What a killed server did not tell any more is waited for in vain as long as this, in every round.
    const deadline = AbortSignal.timeout(20_000);
    const late = new Promise<never>((_resolve, reject) => {
      deadline.addEventListener("abort", () => reject(new Error("It did not come within 20 s.")), { once: true });
    });
    late.catch(() => undefined);
    for (;;) {
      const found = find(this.events);
      if (found !== undefined) return found;
      await Promise.race([this.#wake.promise, this.#ended, late]);
    }
  }

  /** Resolves with the state in which that turn ended. */
  end(turnId: string): Promise<InvokeState> {
    return this.until((events) => events.map((event) => endOf(event, turnId)).find((state) => state !== undefined));
  }

  /** Every event came once, in order, none is missing, no turn ended twice; and a reader that begins anew gets the same. */
  async expectGapless(world: CrashWorld): Promise<void> {
    const ended = this.events.flatMap((event) => (endOf(event, event.turnId) === undefined ? [] : [event.turnId]));
    assert.equal(new Set(ended).size, ended.length, `ends of turns: ${ended.join(", ")}`);
    let last = 0n;
    for (const { firstSeq, seq } of this.events) {
      assert.deepEqual([firstSeq, seq >= firstSeq], [last + 1n, true]);
      last = seq;
    }
    const { sessionId } = this.session;
    const stop = new AbortController();
    let from = 0n;
    for await (const event of world.client.subscribe({ sessionId, afterSeq: 0n }, { signal: stop.signal })) {
      if (event.seq === 0n) continue;
      assert.equal(event.firstSeq, from + 1n);
      from = event.seq;
      if (from >= last) break;
    }
    stop.abort();
    assert.ok(from >= last, `${last} was told, ${from} is there`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended.catch(() => undefined);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const event of this.session.follow({ afterSeq: 0n, signal, onProblem: () => undefined })) {
        if (event.seq === 0n) continue;
        this.events.push(event);
        const { resolve } = this.#wake;
        this.#wake = Promise.withResolvers();
        resolve();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

const ends: readonly InvokeState[] = [
  InvokeState.COMPLETED,
  InvokeState.ERROR,
  InvokeState.INTERRUPTED,
  InvokeState.CANCELLED,
];

/** The state in which an event says that the turn ended. */
export function endOf({ turnId, event }: InvokeEvent, wanted: string): InvokeState | undefined {
  if (turnId !== wanted || event.case !== "status") return undefined;
  return ends.includes(event.value.state) ? event.value.state : undefined;
}
