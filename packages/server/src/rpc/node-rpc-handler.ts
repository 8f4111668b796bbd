import type { IncomingMessage, ServerResponse } from "node:http";
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Admission } from "../admission/admission.ts";
import type { Callers } from "../identity/callers.ts";
import type { Identity } from "../identity/identity.ts";
import { toConnectError } from "./connect-error.ts";
import { StreamLimits } from "./stream-limits.ts";

/** Bytes of a message up to which it is looked at before the RPC layer gets it; its own limit refuses larger ones. */
const maxCheckedBytes = 16 * 1024 * 1024;
const headBytes = 5;
const trailerFlag = 0x80;

/**
 * Serves a router's RPCs (gRPC-Web and Connect, uncompressed) to `node:http`. What is no message in a gRPC-Web body is
 * `invalid_argument`: the RPC layer alone would call it `internal`, which clients take for a fault that may pass.
 */
export function nodeRpcHandler(options: {
  readonly routes: (router: ConnectRouter) => void;
  readonly callers: Callers;
  readonly interceptors: Interceptor[];
  readonly shutdown: AbortSignal;
  readonly admission: Admission;
  /** Gets errors that could not be sent to the client. */
  readonly report: (error: unknown) => void;
}): (request: IncomingMessage, response: ServerResponse, caller: Identity) => void {
  const router = createConnectRouter({
    interceptors: options.interceptors,
    grpc: false,
    grpcWeb: true,
    connect: true,
    acceptCompression: [],
    shutdownSignal: options.shutdown,
  });
  const { callers, admission } = options;
  options.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response, caller) => {
    const handler = handlers.get(request.url ?? "");
    if (handler === undefined) {
      response.writeHead(404).end();
      return;
    }
    let refusal: ConnectError | undefined;
    try {
      const seat = handler.method.methodKind === "unary" ? admission.call(caller) : admission.stream(caller);
      // The answer is over then, however it came to be; the adapter's promise does not always say so.
      response.once("close", () => seat[Symbol.dispose]());
    } catch (error) {
      refusal = toConnectError(error, options.report);
    }
    callers
      .run(caller, () => answer(request, response, { handler, caller, refusal, ...admission.limits }))
      .catch((error: unknown) => {
        // The client went away.
        if (ConnectError.from(error).code !== Code.Aborted) options.report(error);
      });
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  call: {
    readonly handler: Handler;
    readonly caller: Identity;
    readonly refusal: ConnectError | undefined;
    readonly slowReaderMs: number;
  },
): Promise<void> {
  const { handler, caller, refusal } = call;
  const incoming = universalRequestFromNodeRequest(request, response, undefined, undefined);
  if (refusal !== undefined) {
    // Nothing of what it sends is kept.
    request.resume();
    await universalResponseToNodeResponse(await handler({ ...incoming, body: failing(refusal) }), response);
    return;
  }
  const { body } = incoming;
  const isGrpcWeb = /^application\/grpc-web(?:\+proto)?\s*(?:;|$)/i.test(request.headers["content-type"] ?? "");
  const checked =
    isGrpcWeb && isBytes(body) ? { ...incoming, body: checkedFrames(body, handler.method.input) } : incoming;
  if (handler.method.methodKind === "unary") {
    await universalResponseToNodeResponse(await handler(checked), response);
    return;
  }
  const limits = new StreamLimits(incoming.signal, {
    expires: caller.expires,
    slowReaderMs: call.slowReaderMs,
    onStuck: () => {
      isCut = true;
      response.destroy();
    },
  });
  let isCut = false;
  response.once("close", () => limits[Symbol.dispose]());
  const answered = await handler({ ...checked, signal: limits.signal });
  const watched = answered.body === undefined ? answered : { ...answered, body: limits.watched(answered.body) };
  await universalResponseToNodeResponse(watched, response).catch((error: unknown) => {
    if (!isCut) throw error;
  });
}

type Handler = ReturnType<typeof createConnectRouter>["handlers"][number];

/** A body that says why it is not read, in whatever way the protocol of the call says so. */
async function* failing(error: ConnectError): AsyncGenerator<Uint8Array> {
  yield new Uint8Array();
  throw error;
}

/** Passes a body on as it comes. Throws before the last bytes of a frame that is not a message of that kind. */
async function* checkedFrames(body: AsyncIterable<Uint8Array>, message: DescMessage): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let parts: Uint8Array[] = [];
  let missing = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      if (head.length < headBytes) {
        const taken = chunk.subarray(at, at + headBytes - head.length);
        head = Buffer.concat([head, taken]);
        at += taken.length;
        if (head.length < headBytes) break;
        if ((head.readUInt8(0) & trailerFlag) !== 0) throw invalid("A request has no trailers.");
        missing = head.readUInt32BE(1);
      }
      const taken = chunk.subarray(at, at + missing);
      at += taken.length;
      missing -= taken.length;
      const isChecked = head.readUInt8(0) === 0 && head.readUInt32BE(1) <= maxCheckedBytes;
      if (isChecked) parts.push(taken);
      if (missing > 0) break;
      if (isChecked) checkMessage(Buffer.concat(parts), message);
      head = Buffer.alloc(0);
      parts = [];
    }
    yield chunk;
  }
}

function checkMessage(bytes: Uint8Array, message: DescMessage): void {
  try {
    fromBinary(message, bytes);
  } catch {
    throw invalid(`The request is no ${message.typeName}.`);
  }
}

function invalid(text: string): ConnectError {
  return new ConnectError(text, Code.InvalidArgument);
}

function isBytes(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
