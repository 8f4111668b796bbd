import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { effectOf } from "./rpc-effects.ts";

/**
 * While `isWatching`, lets only calls through that look or stop, and attaches streams without client abilities, so that this
 * window does not count as one that can answer. Other calls fail as `FailedPrecondition`.
 */
export function watchingInterceptor(isWatching: () => boolean): Interceptor {
  return (next) => async (request) => {
    if (!isWatching()) return next(request);
    if (effectOf(request.method) === "act") {
      throw new ConnectError(
        "Another window works on this workspace; this one only watches. Close that window, or run “Gennai: Take Over Session in This Window”.",
        Code.FailedPrecondition,
      );
    }
    if (request.stream && request.method.name === AgentService.method.subscribe.name) {
      return next({ ...request, message: withoutClient(request.message) });
    }
    return next(request);
  };
}

async function* withoutClient<Message extends object>(messages: AsyncIterable<Message>): AsyncGenerator<Message, void> {
  for await (const message of messages) yield { ...message, client: undefined };
}
