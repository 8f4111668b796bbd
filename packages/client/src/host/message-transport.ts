import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { callWindow, type ToApp, type ToHost } from "./host-messages.ts";

/** The way to a host, as a webview has it. */
export interface HostPort {
  post(message: ToHost): void;
  /** Parses messages from the host. Returns a function that stops listening. */
  listen(listener: (message: ToApp) => void): () => void;
}

/**
 * Calls of services as messages to a host, whose `CallRelay` makes them. Unary and server streaming; an abort cancels the
 * call there. Errors keep their code, message, metadata and details. Headers do not cross. Disposing fails what is open.
 */
export class MessageTransport implements Transport, Disposable {
  readonly #port: HostPort;
  readonly #calls = new Map<number, OpenCall>();
  readonly #stopListening: () => void;
  #lastId = 0;
  #disposed = false;

  constructor(port: HostPort) {
    this.#port = port;
    this.#stopListening = port.listen((message) => this.#receive(message));
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    _header: HeadersInit | undefined,
    input: MessageInitShape<I>,
  ): Promise<UnaryResponse<I, O>> {
    const call = this.#open(method, input, signal, timeoutMs);
    try {
      const first = await call.next();
      if (first === undefined) throw new ConnectError("The call ended without an answer.", Code.Unimplemented);
      const message = parsed(method.output, first);
      await call.next();
      return { ...response(method), stream: false, message };
    } finally {
      call.close();
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    _header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
  ): Promise<StreamResponse<I, O>> {
    if (method.methodKind !== "server_streaming") {
      throw new ConnectError("Only unary and server streaming calls can be made here.", Code.Unimplemented);
    }
    for await (const only of input) {
      const call = this.#open(method, only, signal, timeoutMs);
      return { ...response(method), stream: true, message: messages(call, method.output) };
    }
    throw new ConnectError("There is no request to send.", Code.Internal);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#stopListening();
    for (const call of this.#calls.values()) call.end(new ConnectError("This view was closed.", Code.Canceled));
    this.#calls.clear();
  }

  #open<I extends DescMessage>(
    method: DescMethodUnary<I> | DescMethodStreaming<I>,
    input: MessageInitShape<I>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
  ): OpenCall {
    if (this.#disposed) throw new ConnectError("This view was closed.", Code.Canceled);
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const cancel = (error: ConnectError) => {
      if (!this.#calls.delete(id)) return;
      this.#port.post({ type: "cancel", id });
      call.end(error);
    };
    const onAbort = () => cancel(ConnectError.from(signal?.reason, Code.Canceled));
    const tooLate = () => cancel(new ConnectError("The call took too long.", Code.DeadlineExceeded));
    const timer = timeoutMs === undefined || timeoutMs <= 0 ? undefined : setTimeout(tooLate, timeoutMs);
    const call = new OpenCall({
      onTaken: (count) => {
        if (this.#calls.has(id)) this.#port.post({ type: "taken", id, count });
      },
      onClose: () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        cancel(new ConnectError("The call was given up.", Code.Canceled));
      },
    });
    this.#calls.set(id, call);
    signal?.addEventListener("abort", onAbort, { once: true });
    const message = toBinary(method.input, create(method.input, input));
    this.#port.post({ type: "call", id, service: method.parent.typeName, method: method.name, message });
    return call;
  }

  #receive(message: ToApp): void {
    if (message.type === "messages") this.#calls.get(message.id)?.push(message.messages);
    if (message.type !== "end") return;
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    call?.end(message.error === undefined ? undefined : errorFromMessage(message.error));
  }
}

type EndMessage = Extract<ToApp, { type: "end" }>;

function errorFromMessage({ code, message, metadata, details }: NonNullable<EndMessage["error"]>): ConnectError {
  const error = new ConnectError(message, isCode(code) ? code : Code.Unknown, safeHeaders(metadata));
  error.details = details.map(({ type, value }) => ({ type, value }));
  return error;
}

function isCode(code: number): code is Code {
  return code >= Code.Canceled && code <= Code.Unauthenticated;
}

/** Without invalid headers: names and values come from outside. */
function safeHeaders(metadata: Record<string, string>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(metadata)) {
    try {
      headers.append(name, value);
    } catch {}
  }
  return headers;
}

function response<M extends DescMethodUnary | DescMethodStreaming>(method: M) {
  return { service: method.parent, method, header: new Headers(), trailer: new Headers() };
}

function parsed<O extends DescMessage>(schema: O, bytes: Uint8Array): MessageShape<O> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new ConnectError("The answer could not be read.", Code.Internal, undefined, undefined, cause);
  }
}

async function* messages<O extends DescMessage>(call: OpenCall, schema: O): AsyncGenerator<MessageShape<O>, void> {
  try {
    for (let next = await call.next(); next !== undefined; next = await call.next()) yield parsed(schema, next);
  } finally {
    call.close();
  }
}

/** Results of one call that were not used yet. */
class OpenCall {
  readonly #options: { readonly onTaken: (count: number) => void; readonly onClose: () => void };
  #queue: Uint8Array[] = [];
  #used = 0;
  #taken = 0;
  #end: { readonly error: ConnectError | undefined } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: { readonly onTaken: (count: number) => void; readonly onClose: () => void }) {
    this.#options = options;
  }

  push(messages: readonly Uint8Array[]): void {
    if (this.#end !== undefined) return;
    this.#queue.push(...messages);
    this.#wake?.();
  }

  end(error: ConnectError | undefined): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  close(): void {
    this.#options.onClose();
    this.#queue = [];
  }

  /** The next message; undefined after the last. Throws the error of a call that failed, after its messages. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#used >= this.#queue.length && this.#end === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
    const message = this.#queue[this.#used];
    if (message === undefined) {
      if (this.#end?.error !== undefined) throw this.#end.error;
      return undefined;
    }
    this.#used++;
    if (this.#used === this.#queue.length || this.#used >= 1024) {
      this.#queue = this.#queue.slice(this.#used);
      this.#used = 0;
    }
    this.#taken++;
    if (this.#taken >= callWindow / 2) {
      this.#options.onTaken(this.#taken);
      this.#taken = 0;
    }
    return message;
  }
}
