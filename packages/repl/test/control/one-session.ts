import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import type { HostNotice } from "@gennai/client/host/host-messages";
import type { ChosenModel } from "@gennai/client/host/window-requests";
import { AgentService, GitState, type StartTurnRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type InvokeEvent, InvokeEventSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, onTestFinished, vi } from "vitest";
import { ReplControl } from "#control/repl-control";
import type { ReplHost } from "#hosts/repl-host";

type Body = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

/** A server of one session, in memory: turns begin by a call and end when the test says so. */
export class OneSession {
  readonly started: StartTurnRequest[] = [];
  readonly created = vi.fn<() => void>();
  readonly stopped = vi.fn<() => void>();
  readonly #events: InvokeEvent[] = [];
  #wake = Promise.withResolvers<void>();
  #turn = "";
  sessions: readonly string[] = [];
  stopWaits: Promise<void> = Promise.resolve();

  emit(event: Body): void {
    const seq = BigInt(this.#events.length + 1);
    this.#events.push(create(InvokeEventSchema, { event, turnId: this.#turn, seq, firstSeq: seq }));
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  end(state: InvokeState): void {
    this.emit({ case: "status", value: { state } });
    this.#turn = "";
  }

  readonly methods: Partial<ServiceImpl<typeof AgentService>> = {
    getServerInfo: () => ({ defaultWorkingDir: "/w" }),
    listSessions: () => ({ sessions: this.sessions.map((sessionId) => ({ sessionId, workingDir: "/w" })) }),
    listScenarios: () => ({ scenarios: [] }),
    getWorkspaceState: () => ({ git: GitState.READY, branch: "work" }),
    makeFirstCommit: () => ({ offered: false }),
    startSession: () => {
      this.created();
      return { sessionId: "fresh", workingDir: "/w" };
    },
    resumeSession: ({ sessionId }) => {
      if (!this.sessions.includes(sessionId)) throw new ConnectError("No such session.", Code.NotFound);
      return { session: { sessionId, workingDir: "/w" } };
    },
    startTurn: (request) => {
      const afterSeq = BigInt(this.#events.length);
      this.#turn = `t${this.started.push(request)}`;
      this.emit({ case: "status", value: { state: InvokeState.STARTED } });
      this.emit({ case: "userMessage", value: { text: request.userInput } });
      return { turnId: this.#turn, afterSeq };
    },
    stop: async () => {
      this.stopped();
      await this.stopWaits;
      this.end(InvokeState.CANCELLED);
      return { stopped: true };
    },
    subscribe: (request, context) => this.#follow(Number(request.afterSeq), context.signal),
  };

  async *#follow(after: number, signal: AbortSignal) {
    yield create(InvokeEventSchema, { event: { case: "heartbeat", value: {} } });
    const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    for (let at = after; !signal.aborted; ) {
      const event = this.#events[at];
      if (event === undefined) await Promise.race([this.#wake.promise, gone]);
      else {
        at++;
        yield event;
      }
    }
  }
}

/** The app before such a server, until the test ends. */
export function appOn(server: OneSession, launch: Partial<ReplHost["launch"]> = {}) {
  const saved: unknown[] = [];
  const shown: string[] = [];
  const models: ChosenModel[] = [];
  let notify: (notice: HostNotice) => void = () => undefined;
  const host: ReplHost = {
    kind: "page",
    transport: createRouterTransport((router) => {
      router.service(AgentService, server.methods);
    }),
    launch: {
      clientId: "c",
      clientName: "test",
      version: "1",
      workspace: "/w",
      sessionId: undefined,
      state: undefined,
      settings: { showThinking: true, backend: "", model: "", modelUrl: "", editingMode: "branch", scenario: "" },
      ...launch,
    },
    keepModel: async (choice) => void models.push(choice),
    saveState: (state) => saved.push(state),
    showsSession: (sessionId) => shown.push(sessionId),
    onNotice: (listener) => {
      notify = listener;
      return () => undefined;
    },
  };
  const control = new ReplControl(host);
  onTestFinished(() => control[Symbol.dispose]());
  return { control, saved, shown, models, notify: (notice: HostNotice) => notify(notice) };
}

export const opened = (control: ReplControl) => vi.waitFor(() => expect(control.opening.value.state).toBe("done"));
export const progress = (control: ReplControl, wanted: string) =>
  vi.waitFor(() => expect(control.turns.progress.value).toBe(wanted));
