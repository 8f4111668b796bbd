import type { Interceptor } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import { toConnectError } from "./connect-error.ts";

/** For every method: invalid metadata is refused, and errors become Connect errors only here. */
export function errorInterceptor(report: (error: unknown) => void): Interceptor {
  return (next) => async (request) => {
    try {
      checkBinaryMetadata(request.header);
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: withConnectErrors(response.message, report) };
    } catch (error) {
      throw toConnectError(error, report);
    }
  };
}

async function* withConnectErrors<Message>(
  messages: AsyncIterable<Message>,
  report: (error: unknown) => void,
): AsyncGenerator<Message> {
  try {
    yield* messages;
  } catch (error) {
    // A stream ends with an abort if its client leaves or the server stops; the reason is passed on unchanged.
    if (error instanceof DOMException) throw error;
    throw toConnectError(error, report);
  }
}

/** This service uses no binary metadata, but invalid values are refused, as gRPC requires. */
function checkBinaryMetadata(headers: Headers): void {
  headers.forEach((value, name) => {
    if (!name.endsWith("-bin") || value.split(",").every((each) => base64.test(each.trim()))) return;
    throw new ServiceError("invalid_argument", `The metadata ${name} is not base64.`);
  });
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
