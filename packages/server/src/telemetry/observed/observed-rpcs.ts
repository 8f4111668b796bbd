import type { Interceptor } from "@connectrpc/connect";
import { rpcCode } from "../signals/error-code.ts";
import { errorType } from "../signals/gen-ai.ts";
import type { Instruments } from "../signals/instruments.ts";
import { endSpan, type Tracing } from "../signals/tracing.ts";

/** A server span for each unary RPC. A stream lasts for hours: it only passes the client's trace on. */
export function observedRpcs(tracing: Tracing, instruments: Pick<Instruments, "rpc">): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const method = `${request.service.typeName}/${request.method.name}`;
    const facts = { "rpc.system.name": "connectrpc", "rpc.method": method };
    const span = tracing.start({ name: method, kind: "server", attributes: facts });
    const began = performance.now();
    let error: string | undefined;
    try {
      return await tracing.below(span, () => next(request));
    } catch (thrown) {
      error = rpcCode(thrown);
      throw thrown;
    } finally {
      endSpan(span, {}, error);
      const status = error === undefined ? {} : { [errorType]: error };
      instruments.rpc.record((performance.now() - began) / 1000, { ...facts, ...status });
    }
  };
}
