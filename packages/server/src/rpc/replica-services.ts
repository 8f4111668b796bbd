import type { DescMethodUnary } from "@bufbuild/protobuf";
import { type ConnectRouter, createRouterTransport, type Interceptor, type Transport } from "@connectrpc/connect";
import { rpcServices } from "@gennai/protocol/rpc-services";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Callers } from "@gennai/sessions/session/identity";
import type { Replica } from "../replica/open-replica.ts";
import type { Scopes } from "../telemetry/signals/scopes.ts";
import { errorInterceptor } from "./error-interceptor.ts";
import { answerForwarded } from "./forwarded-call.ts";
import { RemoteAttachments } from "./remote-attachments.ts";
import { routeToOwner } from "./route-to-owner.ts";

const encoder = new TextEncoder();

/** Answers other replicas, and returns the interceptor that passes requests on to them. */
export function joinReplicas(
  replica: Pick<Replica, "inbox" | "ownership" | "presence">,
  options: {
    readonly manager: () => SessionManager;
    readonly callers: Callers;
    readonly scopes: Scopes;
    readonly routes: (router: ConnectRouter) => void;
    /** Checks that a call must pass here too, wherever it was received. */
    readonly guards: readonly Interceptor[];
    readonly report: (error: unknown) => void;
  },
): Interceptor {
  const { manager, callers, scopes, routes, guards, report } = options;
  const { inbox, ownership, presence } = replica;
  const local: Transport = createRouterTransport(routes, {
    router: { interceptors: [errorInterceptor(report), ...guards] },
  });
  const methods = rpcServices.flatMap((service) =>
    service.methods.filter((method): method is DescMethodUnary => method.methodKind === "unary"),
  );
  inbox.handle("rpc", answerForwarded(methods, { local, callers, scopes }));
  inbox.handle("exact-request", async ({ head }) => {
    const session = await manager().get(head["session"] ?? "");
    const request = session.requests.get(head["request"] ?? "");
    return { head: {}, body: encoder.encode(request === undefined ? "" : JSON.stringify(request)) };
  });
  const attachments = new RemoteAttachments({ manager, ownership, inbox, onError: report });
  return routeToOwner({ manager, ownership, inbox, presence, attachments, callers, scopes, local: () => local });
}
