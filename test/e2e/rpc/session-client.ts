import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import {
  type ClientCapabilitiesSchema,
  type ClientEventSchema,
  EditingMode,
  type InvokeRequestSchema,
  type SettingsSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ErrorInfoSchema, type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  type ConfirmationResponseSchema,
  ConfirmationScope,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { TestServer } from "@gennai/testkit/test-server";

type AnyEvent = Exclude<InvokeEvent["event"], { case: undefined }>;
type EventCase = AnyEvent["case"];
/** What an event of each kind carries. */
type Values = { readonly [Event in AnyEvent as Event["case"]]: Event["value"] };

/** A person's way to a server. */
type Way = Pick<TestServer, "url" | "token" | "client">;

type Capabilities = MessageInitShape<typeof ClientCapabilitiesSchema>;

const wholeEditor: Capabilities = { fileRead: true, executeCommand: true, confirmation: true };

/** A code and what comes with it, as a client gets it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** The code in `ErrorInfo`. */
  readonly info: string | undefined;
  readonly hint: string | undefined;
}

/** How a call was refused; "ok" when it was not. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  try {
    await call;
    return { code: "ok", message: "", info: undefined, hint: undefined };
  } catch (error) {
    const connectError = ConnectError.from(error);
    const info = connectError.findDetails(ErrorInfoSchema)[0];
    const code = Code[connectError.code].replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    return { code, message: connectError.rawMessage, info: info?.code, hint: info?.hint };
  }
}

/** Another client of the same server, with connections of its own that end with their calls. */
export function anotherClient(server: Pick<Way, "url" | "token">): AgentClient {
  const transport = createGrpcWebTransport({
    baseUrl: server.url,
    httpVersion: "1.1",
    nodeOptions: { agent: false },
    interceptors: [
      (next) => (request) => {
        request.header.set("Authorization", `Bearer ${server.token}`);
        return next(request);
      },
    ],
  });
  return connect({ baseUrl: server.url, transport });
}

export async function codeOf(call: Promise<unknown>): Promise<string> {
  return (await refusalOf(call)).code;
}

export async function startSession(
  server: Pick<Way, "client">,
  options: {
    readonly interactive?: boolean;
    readonly proposal?: boolean;
    readonly settings?: MessageInitShape<typeof SettingsSchema>;
  } = {},
): Promise<string> {
  const response = await server.client.startSession({
    interactive: options.interactive ?? false,
    settings: { ...(options.proposal ? { editingMode: EditingMode.PROPOSAL } : {}), ...options.settings },
  });
  return response.sessionId;
}

/** Seq of the session's newest event. */
export async function lastSeqOf(server: TestServer, sessionId: string): Promise<bigint> {
  return (await server.client.resumeSession({ sessionId })).session?.lastSeq ?? 0n;
}

/** Every event of one turn. */
export async function runTurn(
  server: TestServer,
  sessionId: string,
  userInput: string,
  more: MessageInitShape<typeof InvokeRequestSchema> = {},
): Promise<InvokeEvent[]> {
  return Array.fromAsync(server.client.invoke({ sessionId, userInput, ...more }));
}

/** Every event of a session so far. */
export async function allEvents(server: TestServer, sessionId: string, afterSeq = 0n): Promise<InvokeEvent[]> {
  const { session } = await server.client.resumeSession({ sessionId });
  const events: InvokeEvent[] = [];
  const lastSeq = session?.lastSeq ?? 0n;
  if (lastSeq <= afterSeq) return events;
  const stop = new AbortController();
  for await (const event of anotherClient(server).subscribe({ sessionId, afterSeq }, { signal: stop.signal })) {
    if (event.seq > 0n) events.push(event);
    if (event.seq >= lastSeq) break;
  }
  stop.abort();
  return events;
}

export function eventsOf<Case extends EventCase>(events: readonly InvokeEvent[], wanted: Case): Values[Case][] {
  const found: Values[Case][] = [];
  for (const { event } of events) if (isCase(event, wanted)) found.push(event.value);
  return found;
}

/** The one event of that kind. */
export function eventOf<Case extends EventCase>(events: readonly InvokeEvent[], wanted: Case): Values[Case] {
  const found = eventsOf(events, wanted);
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`There are ${found.length} events ${wanted}.`);
  return first;
}

/** State of the last turn in the events, e.g. `COMPLETED`. */
export function endState(events: readonly InvokeEvent[]): string {
  const last = eventsOf(events, "status").at(-1);
  return last === undefined ? "none" : stateName(last.state);
}

/** As the protocol names it, without the prefix. */
export function stateName(state: InvokeState): string {
  return Object.entries(InvokeState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}

/** Numbers leave no gap and overlap nowhere, from the first event on, or after `afterSeq`. Gives the last one. */
export function lastOfGapless(events: readonly InvokeEvent[], afterSeq = (events[0]?.firstSeq ?? 1n) - 1n): bigint {
  let last = afterSeq;
  for (const { firstSeq, seq } of events) {
    if (firstSeq !== last + 1n || seq < firstSeq) throw new Error(`[${firstSeq}, ${seq}] follows ${last}.`);
    last = seq;
  }
  return last;
}

/** A yes to a question, about the action that it showed. */
export function yesTo({ requestId, actionSha256 }: Pick<ConfirmationRequest, "requestId" | "actionSha256">) {
  const value = { requestId, actionSha256, answer: ConfirmationAnswer.YES, scope: ConfirmationScope.ONCE };
  return { case: "confirmationResponse", value } as const;
}

/** A client that stays attached to a session, as an editor does, and keeps what it hears. */
export class Watcher implements AsyncDisposable {
  readonly events: InvokeEvent[] = [];
  readonly sessionId: string;
  readonly clientId: string;
  readonly #client: AgentClient;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #wake = Promise.withResolvers<void>();

  private constructor(
    server: Pick<Way, "url" | "token">,
    sessionId: string,
    options: { readonly clientId: string; readonly afterSeq: bigint; readonly capabilities: Capabilities },
  ) {
    this.#client = anotherClient(server);
    this.sessionId = sessionId;
    this.clientId = options.clientId;
    const { afterSeq, clientId, capabilities } = options;
    const stream = this.#client.subscribe(
      { sessionId, afterSeq, client: { clientId, capabilities } },
      { signal: this.#stop.signal },
    );
    this.#ended = this.#read(stream);
    this.#ended.catch(() => undefined);
  }

  /** Resolves when the server has it attached. */
  static async attach(
    server: Pick<Way, "url" | "token">,
    sessionId: string,
    options: { readonly clientId?: string; readonly afterSeq?: bigint; readonly capabilities?: Capabilities } = {},
  ): Promise<Watcher> {
    const { clientId = "editor-1", afterSeq = 0n, capabilities = wholeEditor } = options;
    const watcher = new Watcher(server, sessionId, { clientId, afterSeq, capabilities });
    await watcher.until((events) => events.length > 0 || undefined, { heartbeats: true });
    return watcher;
  }

  /** Attaches to a new session, and starts a turn there. */
  static async begin(
    server: Way,
    { userInput = "go", capabilities = wholeEditor }: { userInput?: string; capabilities?: Capabilities } = {},
  ): Promise<Watcher> {
    const sessionId = await startSession(server, { interactive: true });
    const watcher = await Watcher.attach(server, sessionId, { capabilities });
    await server.client.startTurn({ sessionId, userInput, clientTurnId: "turn" });
    return watcher;
  }

  /** What `find` makes of the events, as soon as it makes something. */
  async until<Found>(
    find: (events: readonly InvokeEvent[]) => Found | undefined,
    { heartbeats = false, withinMs = 150_000 }: { readonly heartbeats?: boolean; readonly withinMs?: number } = {},
  ): Promise<Found> {
    const deadline = AbortSignal.timeout(withinMs);
    for (;;) {
      const found = find(heartbeats ? this.events : this.events.filter(({ seq }) => seq > 0n));
      if (found !== undefined) return found;
      const waiting = this.#wake.promise;
      await Promise.race([
        waiting,
        new Promise((_resolve, reject) => {
          deadline.addEventListener("abort", () => {
            const seen = this.events.map(({ event }) => event.case ?? "?").join(", ");
            reject(new Error(`It did not come within ${withinMs / 1000} s. There came: ${seen}`));
          });
        }),
      ]);
    }
  }

  /** The next event of that kind, or one that came already. */
  next<Case extends EventCase>(wanted: Case, index = 0): Promise<Values[Case]> {
    return this.until((events) => eventsOf(events, wanted)[index]);
  }

  /** Resolves with the state in which the turn ended. */
  end(turnId?: string): Promise<string> {
    return this.until((events) => {
      for (const { event, turnId: of } of events) {
        if (event.case !== "status" || (turnId !== undefined && of !== turnId)) continue;
        const state = stateName(event.value.state);
        if (["COMPLETED", "ERROR", "CANCELLED", "INTERRUPTED"].includes(state)) return state;
      }
      return undefined;
    });
  }

  /** Answers a request of the server. */
  async submit(
    event: NonNullable<MessageInitShape<typeof ClientEventSchema>["event"]>,
    ownerEpoch = 0n,
  ): Promise<void> {
    await this.#client.submitClientEvent({ sessionId: this.sessionId, clientId: this.clientId, ownerEpoch, event });
  }

  /** Says to a question, about the action that it showed, a yes or what is `said`. */
  async answer(
    { requestId, actionSha256, ownerEpoch }: ConfirmationRequest,
    said: MessageInitShape<typeof ConfirmationResponseSchema> = {},
  ): Promise<void> {
    const value = { requestId, actionSha256, answer: ConfirmationAnswer.YES, ...said };
    await this.submit({ case: "confirmationResponse", value }, ownerEpoch);
  }

  /** Resolves when the stream has ended, no matter who ended it. */
  get ended(): Promise<void> {
    return this.#ended.catch(() => undefined);
  }

  /** Vanishes, as a window that is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }

  async #read(stream: AsyncIterable<InvokeEvent>): Promise<void> {
    try {
      for await (const event of stream) {
        this.events.push(event);
        const { resolve } = this.#wake;
        this.#wake = Promise.withResolvers();
        resolve();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }
}

function isCase<Case extends EventCase>(
  event: InvokeEvent["event"],
  wanted: Case,
): event is InvokeEvent["event"] & { case: Case; value: Values[Case] } {
  return event.case === wanted;
}
