import type { Interceptor } from "@connectrpc/connect";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { once, onlyMessage, sessionIdOf } from "./request-message.ts";

/** Keeps the session that a call names in memory until the call has ended, so that it is not closed under it. */
export function holdSessionInterceptor(manager: () => Pick<SessionManager, "hold">): Interceptor {
  return (next) => async (request) => {
    const message = request.stream ? await onlyMessage(request.message) : request.message;
    const sessionId = sessionIdOf(message);
    const again = request.stream ? { ...request, message: once(message) } : request;
    if (sessionId === undefined) return next(again);
    using held = new DisposableStack();
    held.use(manager().hold(sessionId));
    const response = await next(again);
    if (!response.stream) return response;
    const untilEnd = held.move();
    // A stream that is never read ends only by its signal.
    request.signal.addEventListener("abort", () => untilEnd.dispose(), { once: true });
    if (request.signal.aborted) untilEnd.dispose();
    return { ...response, message: holding(response.message, untilEnd) };
  };
}

async function* holding<Message>(messages: AsyncIterable<Message>, held: Disposable): AsyncGenerator<Message> {
  using _held = held;
  yield* messages;
}
