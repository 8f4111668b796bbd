import type { ServerLog } from "@gennai/machine/server-log";
import { Allowance } from "../../admission/allowance.ts";
import { sendError } from "../../http/http-response.ts";
import type { Route } from "../../http/route.ts";
import { nodeRpcHandler } from "./node-rpc-handler.ts";
import type { RpcOptions } from "./rpc-handlers.ts";

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
