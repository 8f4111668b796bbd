import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { noSuchSession, type SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Callers } from "@gennai/sessions/session/identity";

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
  if (access === "approver" && !caller.isApprover) {
    throw new ServiceError("permission_denied", "Only approvers may do this.", {
      reason: "approver_only",
      hint: "Ask somebody whose token has the approver role.",
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

/**
 * Who may call a method, on a server with several users:
 * - `session`: it names a session, which must be the caller's own
 * - `overseen`: the same, or any session of the tenant for its admins, who may see and stop others' work
 * - `overseen-or-own`: the same; without a session it is about what every user has or may know
 * - `own`: about the caller's own data; the method itself reads nothing of others
 * - `admin`: for admins of the tenant
 * - `approver`: for those who agree as the second person
 */
type RpcAccess = "session" | "overseen" | "overseen-or-own" | "own" | "admin" | "approver";

/** A missing method does not compile. */
type AccessOf<Service extends { readonly method: object }> = Readonly<Record<keyof Service["method"], RpcAccess>>;

const agent: AccessOf<typeof AgentService> = {
  startSession: "own",
  clearSession: "session",
  listScenarios: "overseen-or-own",
  invoke: "session",
  submitClientEvent: "session",
  waitForAnswer: "session",
  getTodos: "overseen",
  writeTodos: "session",
  getConversationPreview: "overseen",
  setSettings: "session",
  startTurn: "session",
  queueMessage: "session",
  withdrawMessage: "session",
  subscribe: "overseen",
  cancelTurn: "overseen",
  stopToolCall: "overseen",
  stop: "overseen-or-own",
  listSessions: "own",
  resumeSession: "overseen",
  forkSession: "session",
  renameSession: "session",
  deleteSession: "session",
  compactSession: "session",
  setModelKey: "own",
  listModels: "own",
  tryModel: "own",
  getServerInfo: "own",
  getBlob: "overseen",
  undoChangeSet: "session",
  listCheckpoints: "overseen",
  restoreCheckpoint: "session",
  listLayer: "overseen",
  keepLayer: "session",
  dropLayer: "session",
  applyProposal: "session",
  getWorkspaceState: "overseen",
  prepareBranch: "session",
  makeFirstCommit: "session",
  listPaths: "overseen-or-own",
  listBackgroundRuns: "overseen",
  readBackgroundRun: "overseen",
  stopBackgroundRun: "overseen",
  openBackgroundPort: "session",
  startAttempts: "session",
  listAttempts: "overseen",
  stopAttempts: "overseen",
  takeAttempt: "session",
  dropAttempts: "session",
  getAttemptContent: "overseen",
};

const governance: AccessOf<typeof GovernanceService> = {
  getGovernanceStatus: "overseen-or-own",
  setEmergencyControl: "admin",
  checkPolicy: "session",
  listIntents: "overseen-or-own",
  selectIntent: "session",
  setIntentsMode: "admin",
  acceptIntents: "admin",
  previewSystemPrompt: "overseen",
  listLedgerRecords: "overseen-or-own",
  verifyLedger: "overseen-or-own",
  getParity: "admin",
  listStandingAnswers: "overseen-or-own",
  revokeStandingAnswers: "overseen-or-own",
  listMcpServers: "overseen-or-own",
  acceptMcpServer: "session",
  logInAtMcpServer: "session",
  listRules: "overseen-or-own",
  guardCall: "own",
  traceLines: "overseen-or-own",
  traceCall: "overseen",
  listApprovals: "approver",
  answerApproval: "approver",
};

const plans: AccessOf<typeof PlanService> = {
  submitPlan: "session",
  previewPlan: "session",
  approvePlan: "session",
  executePlan: "session",
  verifyPlan: "session",
  getPlan: "overseen",
  listPlans: "overseen",
};

const access: ReadonlyMap<string, RpcAccess> = new Map(
  [[AgentService, agent] as const, [GovernanceService, governance] as const, [PlanService, plans] as const].flatMap(
    ([service, table]) =>
      Object.entries(table).map(([name, wanted]) => [`${service.typeName}/${name}`, wanted] as const),
  ),
);

/** Undefined for an unlisted method: it may not be called. */
function accessOf(method: DescMethod): RpcAccess | undefined {
  return access.get(`${method.parent.typeName}/${method.localName}`);
}
