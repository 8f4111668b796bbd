import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import { noSuchSession, type SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Callers } from "@gennai/sessions/session/identity";
import { accessOf } from "./rpc-access.ts";

/**
 * Lets a call through only if its caller has access. Another user's session is reported like an unknown one, after the same log
 * lookup, and before the method reads anything else of the request.
 */
export function accessInterceptor(options: {
  readonly callers: Callers;
  readonly manager: () => Pick<SessionManager, "userOf" | "userOfOpen">;
}): Interceptor {
  return (next) => async (request) => {
    const caller = options.callers.current();
    // On a server with one user, anyone who got in may do everything.
    if (caller?.user === "") return next(request);
    if (!request.stream) {
      await check(options, request.method, sessionIdOf(request.message));
      return next(request);
    }
    const message = await onlyMessage(request.message);
    await check(options, request.method, sessionIdOf(message));
    return next({ ...request, message: once(message) });
  };
}

async function check(
  { callers, manager }: Parameters<typeof accessInterceptor>[0],
  method: DescMethod,
  sessionId: string | undefined,
): Promise<void> {
  const caller = callers.current();
  const access = accessOf(method);
  if (caller === undefined || access === undefined) {
    throw new ServiceError("permission_denied", "This method is not open to users of this server.");
  }
  if (access === "admin" && !caller.isAdmin) {
    throw new ServiceError("permission_denied", "Only admins may do this.", {
      reason: "admin_only",
      hint: "Ask somebody whose token has the admin role.",
    });
  }
  if ((access === "session" || access === "overseen") && sessionId === undefined) throw noSuchSession();
  if (sessionId === undefined) return;
  if (manager().userOfOpen(sessionId) === caller.user) return;
  // For all others the log is read, so that the time is the same for open and unknown sessions.
  const user = await manager().userOf(sessionId);
  if (user === caller.user) return;
  if (user === undefined || !caller.isAdmin) throw noSuchSession();
  if (access === "overseen" || access === "overseen-or-own") return;
  throw new ServiceError("permission_denied", "Admins can see and stop what others do, but cannot act for them.", {
    reason: "owner_only",
    hint: "Ask the person who started the session to do it.",
  });
}

/** The one message of a request whose answer is a stream; undefined when none came. */
export async function onlyMessage<Value>(messages: AsyncIterable<Value>): Promise<Value | undefined> {
  for await (const message of messages) return message;
  return undefined;
}

export async function* once<Value>(value: Value | undefined): AsyncGenerator<Value> {
  if (value !== undefined) yield value;
}

/** The session that a request names; undefined when it names none. */
export function sessionIdOf(message: object | undefined): string | undefined {
  if (message === undefined || !("sessionId" in message)) return undefined;
  return typeof message.sessionId === "string" && message.sessionId !== "" ? message.sessionId : undefined;
}

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
