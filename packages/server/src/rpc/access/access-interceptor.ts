import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import { noSuchSession, type SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Callers } from "@gennai/sessions/session/callers";
import { once, onlyMessage, sessionIdOf } from "./request-message.ts";
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
