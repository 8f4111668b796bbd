import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { ServerLog } from "@gennai/machine/server-log";
import { hasCode } from "@gennai/machine/system-error";
import { workspaceHeader } from "@gennai/protocol/workspace-header";
import type { Identity } from "@gennai/sessions/session/identity";
import { Allowance } from "../../admission/allowance.ts";
import { endConnection, sendError } from "../../http/http-response.ts";
import type { Route } from "../../http/route.ts";
import { toConnectError } from "../connect-error.ts";
import { checkedBody, isTooLarge } from "./checked-body.ts";
import { failing, fromWorkspace, type RpcOptions, rpcHandlers, takeSeat, withErrors } from "./rpc-handlers.ts";
import { StreamLimits } from "./stream-limits.ts";

const tooManyRequests = 429;
const contentTooLarge = 413;

/** Serves RPCs (gRPC-Web and Connect, uncompressed) to `node:http`. */
function nodeRpcHandler(
  options: RpcOptions,
): (request: IncomingMessage, response: ServerResponse, caller: Identity) => void {
  const { callers, admission } = options;
  const handlers = new Map(rpcHandlers(options).map((handler) => [handler.requestPath, handler]));
  return (request, response, identity) => {
    const caller = fromWorkspace(identity, request.headers[workspaceHeader]);
    const handler = handlers.get(request.url ?? "");
    if (handler === undefined) {
      response.writeHead(404).end();
      return;
    }
    let refusal: ConnectError | undefined;
    try {
      const seat = takeSeat(admission, caller, handler.method);
      // The answer is over then, however it came to be; the adapter's promise does not always say so.
      response.once("close", () => seat[Symbol.dispose]());
    } catch (error) {
      refusal = toConnectError(error, options.report);
    }
    callers
      .run(caller, () =>
        answer(request, response, { handler, caller, refusal, report: options.report, ...admission.limits }),
      )
      .catch((error: unknown) => {
        if (!isClientGone(error)) options.report(error);
      });
  };
}

/** The client went away; also while it was being written to. */
function isClientGone(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  return code === Code.Aborted || hasCode(cause, "ECANCELED") || hasCode(cause, "EPIPE");
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  call: {
    readonly handler: UniversalHandler;
    readonly caller: Identity;
    readonly refusal: ConnectError | undefined;
    readonly slowReaderMs: number;
    readonly report: (error: unknown) => void;
  },
): Promise<void> {
  const { handler, caller, refusal } = call;
  const incoming = universalRequestFromNodeRequest(request, response, undefined, undefined);
  if (refusal !== undefined) {
    // The received data is discarded.
    request.resume();
    await universalResponseToNodeResponse(await handler({ ...incoming, body: failing(refusal) }), response);
    return;
  }
  const { body } = incoming;
  let isLarge = false;
  const failed = (error: unknown): ConnectError => {
    isLarge = isTooLarge(error);
    // The rest of the body would be parsed as the next request.
    if (!request.complete) endConnection(response);
    return toConnectError(error, call.report);
  };
  const type = request.headers["content-type"] ?? "";
  const checked = isBytes(body)
    ? { ...incoming, body: withErrors(checkedBody(body, handler.method, type), failed) }
    : incoming;
  if (handler.method.methodKind === "unary") {
    const answered = await handler(checked);
    // Connect has one status for every exhausted resource, and clients retry after it. The body still has the code.
    const status = isLarge && answered.status === tooManyRequests ? contentTooLarge : answered.status;
    await universalResponseToNodeResponse({ ...answered, status }, response);
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

function isBytes(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

interface ServedTenant {
  rpcOptions(shutdown: AbortSignal): RpcOptions;
}

/** Hands each RPC to the tenant of the one who calls. Streams end when `shutdown` aborts. */
export function tenantRpc(
  tenants: { of(tenant: string): Promise<ServedTenant> },
  { shutdown, log }: { readonly shutdown: AbortSignal; readonly log: ServerLog },
): Route["handle"] {
  // Its users ask again and again.
  const reports = new Allowance(1, () => performance.now(), 20);
  const handlers = new WeakMap<ServedTenant, ReturnType<typeof nodeRpcHandler>>();
  const handlerOf = (tenant: ServedTenant): ReturnType<typeof nodeRpcHandler> => {
    const handler = handlers.get(tenant) ?? nodeRpcHandler(tenant.rpcOptions(shutdown));
    handlers.set(tenant, handler);
    return handler;
  };
  return async (request, response, { identity }) => {
    const tenant = await tenants.of(identity.tenant).catch((error: unknown) => {
      if (reports.take()) log.error("A tenant could not be opened.", error);
    });
    if (tenant !== undefined) return handlerOf(tenant)(request, response, identity);
    const message = "your tenant cannot be served right now";
    sendError(response, { status: 503, code: "unavailable", message, headers: { "Retry-After": "30" } });
  };
}
