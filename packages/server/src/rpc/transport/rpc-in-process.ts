import type { Interceptor, Transport } from "@connectrpc/connect";
import {
  assertByteStreamRequest,
  createUniversalHandlerClient,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { createTransport } from "@connectrpc/connect/protocol-grpc-web";
import { workspaceHeader } from "@gennai/protocol/workspace-header";
import { oneUser } from "@gennai/sessions/session/identity";
import { shutdownError, toConnectError } from "../connect-error.ts";
import { checkedBody } from "./checked-body.ts";
import { failing, fromWorkspace, type RpcOptions, rpcHandlers, takeSeat, withErrors } from "./rpc-handlers.ts";

/** How a client in this very process calls a server: the same messages, checks and errors, and no connection. */
export interface InProcessRpc extends AsyncDisposable {
  transport(interceptors: Interceptor[]): Transport;
}

/** How long the end waits for calls under way. Milliseconds. */
const closingMs = 2_000;

/**
 * Serves RPCs to anyone who has the transport, as the server's one user. Disposing ends streams.
 * @param open makes what answers, given the signal at which streams end
 */
export function serveInProcess(open: (shutdown: AbortSignal) => RpcOptions): InProcessRpc {
  const shutdown = new AbortController();
  const options = open(shutdown.signal);
  const underWay = new Set<Promise<void>>();
  const httpClient = createUniversalHandlerClient(
    rpcHandlers(options).map((handler) => Object.assign(admitted(handler, options, underWay), { ...handler })),
  );
  return {
    transport: (interceptors) =>
      createTransport({
        httpClient,
        baseUrl: "http://in-process",
        useBinaryFormat: true,
        interceptors,
        acceptCompression: [],
        sendCompression: null,
        compressMinBytes: Number.MAX_SAFE_INTEGER,
        readMaxBytes: Number.MAX_SAFE_INTEGER,
        writeMaxBytes: Number.MAX_SAFE_INTEGER,
      }),
    async [Symbol.asyncDispose]() {
      shutdown.abort(shutdownError());
      const over = Promise.withResolvers<void>();
      const timeout = setTimeout(over.resolve, closingMs);
      await Promise.race([Promise.all(underWay), over.promise]);
      clearTimeout(timeout);
    },
  };
}

/** The method's handler, which takes part in the limits and runs on behalf of the user. */
function admitted(
  handler: UniversalHandler,
  { callers, admission, report }: RpcOptions,
  underWay: Set<Promise<void>>,
): (request: UniversalServerRequest) => Promise<UniversalServerResponse> {
  return async (request) => {
    const caller = fromWorkspace(oneUser, request.header.get(workspaceHeader));
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.add(promise);
    const parts = new DisposableStack();
    parts.defer(() => {
      underWay.delete(promise);
      resolve();
    });
    assertByteStreamRequest(request);
    let body = request.body;
    try {
      parts.use(takeSeat(admission, caller, handler.method));
      const type = request.header.get("content-type") ?? "";
      body = withErrors(checkedBody(body, handler.method, type), (error) => toConnectError(error, report));
    } catch (error) {
      body = failing(toConnectError(error, report));
    }
    try {
      const answered = await callers.run(caller, () => handler({ ...request, body }));
      const { body: answer } = answered;
      const { signal } = request;
      if (answer !== undefined) {
        return { ...answered, body: read(answer, { signal, onBehalf: (step) => callers.run(caller, step) }, parts) };
      }
      parts.dispose();
      return answered;
    } catch (error) {
      parts.dispose();
      throw error;
    }
  };
}

/** A response, produced on behalf of its caller as it is read, until the caller leaves. */
async function* read(
  body: AsyncIterable<Uint8Array>,
  { signal, onBehalf }: { readonly signal: AbortSignal; readonly onBehalf: <Result>(step: () => Result) => Result },
  parts: Disposable,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  // Without a reader, the producer would wait for ever and keep its resources.
  const leave = (): void => {
    void onBehalf(() => chunks.return?.())?.catch(() => undefined);
    parts[Symbol.dispose]();
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    for (;;) {
      const next = await onBehalf(() => chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}
