import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ServiceError } from "../service-error.ts";
import { toConnectError } from "./connect-error.ts";

/** The service with everything that holds for each of its methods: errors become Connect errors once, here. */
export function guardedService<Service extends ServiceImpl<typeof AgentService>>(
  service: Service,
  report: (error: unknown) => void,
): Service {
  const wrapped: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(service)) wrapped[name] = guarded(method, report);
  return wrapped as Service;
}

function guarded(method: (...args: never[]) => unknown, report: (error: unknown) => void) {
  return (...args: never[]): unknown => {
    try {
      checkBinaryMetadata(args[1]);
      const result = method(...args);
      if (result instanceof Promise) {
        return result.catch((error: unknown) => {
          throw toConnectError(error, report);
        });
      }
      if (isAsyncIterable(result)) return guardedStream(result, report);
      return result;
    } catch (error) {
      throw toConnectError(error, report);
    }
  };
}

async function* guardedStream(stream: AsyncIterable<unknown>, report: (error: unknown) => void) {
  try {
    yield* stream;
  } catch (error) {
    // An abort is how a stream ends when its client goes or the server stops; its reason is passed on as it is.
    if (error instanceof DOMException) throw error;
    throw toConnectError(error, report);
  }
}

/** Binary metadata means nothing to this service, but what is not what it says is refused, as gRPC asks for. */
function checkBinaryMetadata(context: HandlerContext | undefined): void {
  context?.requestHeader.forEach((value, name) => {
    if (!name.endsWith("-bin") || value.split(",").every((each) => base64.test(each.trim()))) return;
    throw new ServiceError("invalid_argument", `The metadata ${name} is not base64.`);
  });
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
