import { randomUUID } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";
import type { ServerLog } from "@gennai/machine/server-log";
import { rpcCode } from "../signals/error-code.ts";
import type { Scopes } from "../signals/scopes.ts";
import { parseTraceParent } from "../signals/trace-parent.ts";

/**
 * Sets the scope of a request's work: its own id, which the client is told, and the client's trace. Ids from clients are
 * ignored, because they would end up in log lines.
 */
export function scopeInterceptor(scopes: Scopes): Interceptor {
  return (next) => async (request) => {
    const requestId = randomUUID();
    const trace = parseTraceParent(request.header.get("traceparent"));
    const response = await scopes.run({ requestId, ...(trace === undefined ? {} : { trace }) }, () => next(request));
    response.header.set("X-Request-Id", requestId);
    return response;
  };
}

/** A debug line for each RPC: which one, how it ended, after how many milliseconds. Of a stream, how it began. */
export function rpcLines(log: Pick<ServerLog, "debug">): Interceptor {
  return (next) => async (request) => {
    const began = performance.now();
    let code = "ok";
    try {
      return await next(request);
    } catch (error) {
      code = rpcCode(error);
      throw error;
    } finally {
      const milliseconds = Math.round((performance.now() - began) * 10) / 10;
      log.debug(`${request.service.typeName}/${request.method.name}`, { code, milliseconds });
    }
  };
}
