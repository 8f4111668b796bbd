import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  isMessage,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import {
  AgentService,
  type ClientEvent,
  ClientEventSchema,
  StopRequestSchema,
  StopScope,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { callWindow, type ToApp, type ToHost } from "./host-messages.ts";

export interface CallRelayOptions {
  /** To the server, with its credentials: the app never sees them. */
  readonly transport: Transport;
  readonly post: (message: ToApp) => void;
  /** Checks a call before it is made. Its error goes to the app instead of an answer; preferably a `ConnectError`. */
  readonly check?: (call: RelayedCall) => void | Promise<void>;
}

type RelayedMethod = DescMethodUnary | DescMethodServerStreaming;

export interface RelayedCall {
  readonly method: RelayedMethod;
  /** The request; `isMessage(request, SomeSchema)` tells which. */
  readonly request: Message;
}

/** Calls that may be open at the same time. */
const maxOpenCalls = 64;

/**
 * The host's side of a `MessageTransport`: makes the calls that the app asks for, and only those a view may make. It
 * reads no further than `callWindow` messages ahead of the app. Disposing cancels what is open.
 */
export class CallRelay implements Disposable {
  readonly #options: CallRelayOptions;
  readonly #open = new Map<number, RunningCall>();

  constructor(options: CallRelayOptions) {
    this.#options = options;
  }

  /** True for a message that was the relay's; others are the host's own. */
  handle(message: ToHost): boolean {
    switch (message.type) {
      case "call":
        // An id that is in use names the call that has it.
        if (!this.#open.has(message.id)) void this.#run(message);
        return true;
      case "cancel":
        this.#open.get(message.id)?.abort();
        return true;
      case "taken":
        this.#open.get(message.id)?.taken(message.count);
        return true;
      default:
        return false;
    }
  }

  /** Cancels every open call: the app behind them was reloaded or closed. */
  cancelAll(): void {
    for (const call of this.#open.values()) call.abort();
    this.#open.clear();
  }

  [Symbol.dispose](): void {
    this.cancelAll();
  }

  async #run({ id, service, method, message }: Extract<ToHost, { type: "call" }>): Promise<void> {
    const call = new RunningCall((messages) => this.#options.post({ type: "messages", id, messages }));
    let error: ConnectError | undefined;
    const full = this.#open.size >= maxOpenCalls;
    if (!full) this.#open.set(id, call);
    try {
      if (full) throw new ConnectError(`More than ${maxOpenCalls} calls are open.`, Code.ResourceExhausted);
      const found = findMethod(service, method);
      const request = parseRequest(found, message);
      refuseWhatIsTheEditors(request);
      await this.#options.check?.({ method: found, request });
      for await (const answer of this.#answers(found, request, call)) {
        if (call.signal.aborted) break;
        call.push(answer);
        await call.room();
      }
    } catch (reason) {
      error = ConnectError.from(reason);
    }
    // The end of a call that the app has left need not be sent.
    const left = call.signal.aborted;
    call.flush();
    call.abort();
    if (this.#open.get(id) === call) this.#open.delete(id);
    if (left) return;
    this.#options.post({ type: "end", id, ...(error === undefined ? {} : { error: errorFields(error) }) });
  }

  async *#answers(method: RelayedMethod, request: Message, { signal }: RunningCall): AsyncGenerator<Uint8Array, void> {
    const { transport } = this.#options;
    if (isUnary(method)) {
      const { message } = await transport.unary(method, signal, undefined, undefined, request);
      yield toBinary(method.output, message);
      return;
    }
    // A session's log has thousands of messages that need not be parsed here: they are passed on as bytes.
    const unread = { ...method, output: EmptySchema };
    const { message } = await transport.stream(unread, signal, undefined, undefined, only(request));
    for await (const next of message) yield toBinary(EmptySchema, next);
  }
}

const services: ReadonlyMap<string, DescService> = new Map(
  [AgentService, PlanService, GovernanceService].map((service) => [service.typeName, service]),
);

function findMethod(service: string, name: string): RelayedMethod {
  const method = services.get(service)?.methods.find((candidate) => candidate.name === name);
  if (method === undefined || !(isUnary(method) || isServerStreaming(method))) {
    throw new ConnectError("There is no such call for a view.", Code.PermissionDenied);
  }
  return method;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

function parseRequest(method: DescMethod, bytes: Uint8Array): Message {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw new ConnectError("The request could not be read.", Code.InvalidArgument);
  }
}

/** A view speaks for the person before it. What the editor answers, and what reaches beyond it, is not its to say. */
function refuseWhatIsTheEditors(request: Message): void {
  if (isMessage(request, ClientEventSchema) && !viewEvents.has(request.event.case)) {
    throw new ConnectError("A view does not answer in the editor's place.", Code.PermissionDenied);
  }
  if (isMessage(request, StopRequestSchema) && request.scope === StopScope.SERVER) {
    throw new ConnectError("A view does not stop the work of others.", Code.PermissionDenied);
  }
}

const viewEvents: ReadonlySet<ClientEvent["event"]["case"]> = new Set([
  "confirmationResponse",
  "userQuestionResponse",
  "proposalReview",
  "proposalApplied",
]);

function errorFields(error: ConnectError): NonNullable<Extract<ToApp, { type: "end" }>["error"]> {
  const details = error.details.flatMap((detail) =>
    "type" in detail
      ? [{ type: detail.type, value: detail.value }]
      : [{ type: detail.desc.typeName, value: toBinary(detail.desc, create(detail.desc, detail.value)) }],
  );
  return { code: error.code, message: error.rawMessage, metadata: Object.fromEntries(error.metadata), details };
}

async function* only<Value>(value: Value): AsyncGenerator<Value, void> {
  yield value;
}

class RunningCall {
  readonly #controller = new AbortController();
  readonly #post: (messages: Uint8Array[]) => void;
  #waiting: Uint8Array[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sent = 0;
  #wake: (() => void) | undefined;

  constructor(post: (messages: Uint8Array[]) => void) {
    this.#post = post;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Posts it with those that come at the same time. */
  push(message: Uint8Array): void {
    this.#waiting.push(message);
    this.#timer ??= setTimeout(() => this.flush(), 0);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const messages = this.#waiting;
    this.#waiting = [];
    if (messages.length > 0 && !this.signal.aborted) this.#post(messages);
  }

  abort(): void {
    this.#controller.abort(new ConnectError("The view gave up the call.", Code.Canceled));
    this.#wake?.();
  }

  taken(count: number): void {
    this.#sent = Math.max(0, this.#sent - count);
    this.#wake?.();
  }

  /** Resolves when the app has room for another message, or the call is over. */
  async room(): Promise<void> {
    this.#sent++;
    while (this.#sent >= callWindow && !this.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }
}
