import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { create, isMessage } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type {
  Interceptor,
  StreamRequest,
  StreamResponse,
  Transport,
  UnaryRequest,
  UnaryResponse,
} from "@connectrpc/connect";
import {
  AgentService,
  InvokeRequestSchema,
  StartTurnRequestSchema,
  StopRequestSchema,
  StopResponseSchema,
  StopScope,
  SubscribeRequestSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import {
  AnswerApprovalRequestSchema,
  ListApprovalsRequestSchema,
  ListApprovalsResponseSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Callers } from "@gennai/sessions/session/identity";
import type { SessionOwnership } from "@gennai/sessions/session/owned-log";
import type { ReplicaInbox } from "../replica/inbox.ts";
import type { ReplicaPresence } from "../replica/presence.ts";
import type { Scopes } from "../telemetry/signals/scopes.ts";
import { once, onlyMessage, sessionIdOf } from "./access-interceptor.ts";
import { forwardCall } from "./forwarded-call.ts";
import type { RemoteAttachments } from "./remote-attachments.ts";

export interface RoutingOptions {
  readonly manager: () => SessionManager;
  readonly ownership: SessionOwnership;
  readonly inbox: ReplicaInbox;
  readonly presence: ReplicaPresence;
  readonly attachments: RemoteAttachments;
  readonly callers: Callers;
  /** Carries the trace of a request on. */
  readonly scopes: Scopes;
  /** This replica's services, without routing. */
  readonly local: () => Transport;
}

/**
 * Lets any replica take any request: a request for a session goes to its owner; a subscription is served here from the log,
 * with its client attached at the owner; requests for all servers go to all.
 */
export function routeToOwner(options: RoutingOptions): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return routeStream(options, request, next);
    const { message } = request;
    if (isMessage(message, StopRequestSchema) && message.scope !== StopScope.SESSION) {
      return everywhere(options, request, next, { schema: StopResponseSchema, list: "turnIds" });
    }
    if (isMessage(message, ListApprovalsRequestSchema)) {
      const listing = { schema: ListApprovalsResponseSchema, list: "approvals", withinMs: listingMs } as const;
      return everywhere(options, request, next, listing);
    }
    if (isMessage(message, AnswerApprovalRequestSchema)) {
      const { requestId = "" } = message.response ?? {};
      const asking = (await options.presence.others()).find((id) => requestId.startsWith(id));
      if (asking === undefined) return next(request);
      return answered(request, await forwardCall(options, asking, request.method, message));
    }
    const sessionId = sessionIdOf(request.message);
    if (sessionId === undefined) return next(request);
    const owner = await options.ownership.otherOwner(sessionId);
    if (owner === undefined) {
      await followed(options, sessionId);
      return next(request);
    }
    return answered(request, await forwardCall(options, owner, request.method, request.message));
  };
}

async function routeStream(
  options: RoutingOptions,
  request: StreamRequest,
  next: (request: StreamRequest) => Promise<UnaryResponse | StreamResponse>,
): Promise<UnaryResponse | StreamResponse> {
  const message = await onlyMessage(request.message);
  const sessionId = sessionIdOf(message);
  const same = { ...request, message: once(message) };
  if (sessionId === undefined) return next(same);
  const owner = await options.ownership.otherOwner(sessionId);
  if (isMessage(message, InvokeRequestSchema) && owner !== undefined) {
    const { userInput, scenario, enableThinking, images, editorContext, client } = message;
    const clientTurnId = message.clientTurnId === "" ? crypto.randomUUID() : message.clientTurnId;
    const turn = create(StartTurnRequestSchema, {
      sessionId,
      userInput,
      scenario,
      enableThinking,
      images,
      clientTurnId,
      ...(editorContext === undefined ? {} : { editorContext }),
    });
    const subscription = create(SubscribeRequestSchema, { sessionId, ...(client === undefined ? {} : { client }) });
    // Attached before the turn starts, so that its first question finds a client.
    const attachment = await options.attachments.attach(subscription);
    const started = await forwardCall(options, owner, AgentService.method.startTurn, turn).catch((error) => {
      attachment[Symbol.dispose]();
      throw error;
    });
    const { afterSeq, turnId: untilTurnId } = started;
    await followed(options, sessionId);
    const response = await options
      .local()
      .stream(
        AgentService.method.subscribe,
        request.signal,
        undefined,
        undefined,
        once(create(SubscribeRequestSchema, { ...subscription, afterSeq, untilTurnId })),
      );
    const { service, method } = request;
    const events = withAttachment(response.message, attachment);
    return { stream: true, service, method, message: events, ...answerHeaders(request) };
  }
  await followed(options, sessionId);
  if (!isMessage(message, SubscribeRequestSchema)) return next(same);
  const attachment = await options.attachments.attach(message);
  request.signal.addEventListener("abort", () => attachment[Symbol.dispose](), { once: true });
  if (request.signal.aborted) attachment[Symbol.dispose]();
  const response = await next(same).catch((error: unknown) => {
    attachment[Symbol.dispose]();
    throw error;
  });
  return response.stream ? { ...response, message: withAttachment(response.message, attachment) } : response;
}

/** Milliseconds that another replica has to list what it has: a person waits, and the list is asked for again and again. */
const listingMs = 5_000;

/**
 * Every replica answers for what it has itself: their lists become one. One that is gone has nothing; where the response has a field for
 * it, one that gave no answer is named there.
 */
async function everywhere<List extends string, Response extends Message & Record<List, unknown[]>>(
  options: RoutingOptions,
  request: UnaryRequest,
  next: (request: UnaryRequest) => Promise<UnaryResponse | StreamResponse>,
  {
    schema,
    list,
    withinMs,
  }: { readonly schema: GenMessage<Response>; readonly list: List; readonly withinMs?: number },
): Promise<UnaryResponse | StreamResponse> {
  const { method, message: asked } = request;
  const others = options.presence.others().then((ids) =>
    Promise.all(
      ids.map(async (id) => {
        const answer = await forwardCall(options, id, method, asked, { withinMs }).catch(() => undefined);
        return { id, found: isMessage(answer, schema) ? answer[list] : undefined };
      }),
    ),
  );
  others.catch(() => undefined);
  const response = await next(request);
  if (response.stream || !isMessage(response.message, schema)) return response;
  const { message } = response;
  const answers = await others;
  const all = [...message[list], ...answers.flatMap(({ found = [] }) => found)];
  const unanswered = answers.flatMap(({ id, found }) => (found === undefined ? [id] : []));
  return { ...response, message: { ...message, [list]: all, ...("unanswered" in message ? { unanswered } : {}) } };
}

/** Reads the events of other replicas before this one answers. */
async function followed({ manager }: RoutingOptions, sessionId: string): Promise<void> {
  // An unknown session, a workspace that is gone: the method itself says so.
  const session = await manager()
    .get(sessionId)
    .catch(() => undefined);
  await session?.follow();
}

function answered(request: UnaryRequest, message: Message): UnaryResponse {
  const { service } = request;
  const method: DescMethodUnary = request.method;
  return { stream: false, service, method, message, ...answerHeaders(request) };
}

/** Headers that the handler would have set itself; those from another replica's answer replace them. */
function answerHeaders({ header }: UnaryRequest | StreamRequest): {
  readonly header: Headers;
  readonly trailer: Headers;
} {
  const type = header.get("content-type") ?? "";
  return {
    header: new Headers({ "content-type": type }),
    trailer: new Headers(type.startsWith("application/grpc-web") ? { "grpc-status": "0" } : {}),
  };
}

async function* withAttachment<Value>(messages: AsyncIterable<Value>, attachment: Disposable): AsyncGenerator<Value> {
  try {
    yield* messages;
  } finally {
    attachment[Symbol.dispose]();
  }
}
