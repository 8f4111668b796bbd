import type { DescMethod } from "@bufbuild/protobuf";
import { type ConnectError, type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { ServiceError } from "@gennai/machine/service-error";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { readWorkspaceHeader } from "@gennai/protocol/workspace-header";
import type { Callers, Identity } from "@gennai/sessions/session/identity";
import type { Admission } from "../../admission/admission.ts";

export interface RpcOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly callers: Callers;
  readonly interceptors: Interceptor[];
  readonly shutdown: AbortSignal;
  readonly admission: Admission;
  /** Gets errors that could not be sent to the client. */
  readonly report: (error: unknown) => void;
}

/** Handlers of all methods (gRPC-Web and Connect, uncompressed), independent of the transport. */
export function rpcHandlers({ routes, interceptors, shutdown }: RpcOptions): readonly UniversalHandler[] {
  const router = createConnectRouter({
    interceptors,
    grpc: false,
    grpcWeb: true,
    connect: true,
    acceptCompression: [],
    shutdownSignal: shutdown,
  });
  routes(router);
  return router.handlers;
}

/** One user works in several workspaces: for calls without a session, a header names the workspace. */
export function fromWorkspace(identity: Identity, named: unknown): Identity {
  if (identity.user !== "" || typeof named !== "string") return identity;
  const workspace = readWorkspaceHeader(named);
  return workspace === undefined ? identity : { ...identity, workspace };
}

/** A body that says why it is not read, in whatever way the protocol of the call says so. */
export async function* failing(error: ConnectError): AsyncGenerator<Uint8Array> {
  yield new Uint8Array();
  throw error;
}

/** A body whose errors are told in the protocol's terms. */
export async function* withErrors(
  body: AsyncIterable<Uint8Array>,
  told: (error: unknown) => ConnectError,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    // Errors of the connection itself are not ours.
    throw error instanceof ServiceError ? told(error) : error;
  }
}

/** Lets a call in, or throws what `Admission` throws. Dispose when it has ended. */
export function takeSeat(
  admission: Pick<Admission, "call" | "stream">,
  caller: Parameters<Admission["call"]>[0],
  { methodKind, name }: Pick<DescMethod, "methodKind" | "name">,
): Disposable {
  if (methodKind === "unary") return admission.call(caller);
  return admission.stream(caller, { runsTurn: name === AgentService.method.invoke.name });
}
