import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { gitIsolation } from "@gennai/git/run/git-isolation";
import type { GuardedHosts } from "@gennai/guard/guarded-hosts";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { ServiceError } from "@gennai/machine/service-error";
import { resolvePlace } from "@gennai/machine/workspace/paths/client-place";
import { stagesWord } from "@gennai/protocol/commands-mode";
import { AgentService, type ClientInfo } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { digest } from "@gennai/protocol/model/checked-field";
import { changedSettings, editingModeWords, settingsToMessage } from "@gennai/protocol/model/session/session-settings";
import { todoToMessage } from "@gennai/protocol/model/session/todo";
import { protocolVersion } from "@gennai/protocol/spoken-protocol";
import type { AttachedClient } from "@gennai/sessions/bridge/client-registry";
import { waitForAnswer } from "@gennai/sessions/manager/answer-request";
import { conversationPreview } from "@gennai/sessions/manager/conversation-preview";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { loadScenarios } from "@gennai/sessions/policies/load-scenarios";
import { questionsOf } from "@gennai/sessions/session/interrupted-turn";
import type { Session } from "@gennai/sessions/session/session";
import { startTurn } from "@gennai/sessions/turn/prepare-turn";
import { queueMessage, withdrawMessage } from "@gennai/sessions/turn/queue-message";
import type { SessionHead } from "@gennai/store/log/session-log";
import type { attemptRpcs } from "./methods/attempt-rpcs.ts";
import { backgroundRpcs } from "./methods/background-rpcs.ts";
import { changeRpcs } from "./methods/change-rpcs.ts";
import type { chooseModelRpcs } from "./methods/choose-model-rpcs.ts";
import { submitClientEvent } from "./methods/client-event.ts";
import { streamEvents } from "./methods/event-stream.ts";
import { invoke } from "./methods/invoke.ts";
import type { modelKeyRpc } from "./methods/model-key-rpc.ts";
import { listedSkills, sessionRpcs } from "./methods/session-rpcs.ts";
import { sessionsMeant } from "./methods/sessions-meant.ts";
import { workspaceRpcs } from "./methods/workspace-rpcs.ts";
import { isolationOf } from "./open-stages.ts";
import { clientFromWire } from "./wire/client-from-wire.ts";
import { usageSumToWire } from "./wire/events/usage-wire.ts";
import { todosFromWire } from "./wire/todos-from-wire.ts";
import { saidMessageFromWire, turnInputFromWire } from "./wire/turn-input-from-wire.ts";
import { clientWorkspaceFromWire } from "./wire/workspace-wire.ts";

export interface AgentServiceOptions {
  readonly manager: SessionManager;
  readonly guarded: Pick<GuardedHosts, "agentOf">;
  readonly setModelKey: ReturnType<typeof modelKeyRpc>;
  readonly chooseModel: ReturnType<typeof chooseModelRpcs>;
  readonly attempts: ReturnType<typeof attemptRpcs>;
  /** Ends the attempts of sessions that a stop is for. */
  readonly stopAttempts: (isMeant: (session: Session) => boolean) => Promise<void>;
  readonly version: string;
  readonly features: readonly string[];
}

/** Every RPC of AgentService, over the session manager. */
export function registerAgentService(router: ConnectRouter, options: AgentServiceOptions): void {
  router.service(AgentService, agentService(options));
}

function agentService({
  manager,
  guarded,
  setModelKey,
  chooseModel,
  attempts,
  stopAttempts,
  version,
  features,
}: AgentServiceOptions): ServiceImpl<typeof AgentService> {
  const { services } = manager;
  /** Empty on a server with one user. */
  const user = (): string => services.callers.current()?.user ?? "";
  const seesAll = (): boolean => services.callers.current()?.isAdmin === true;

  return {
    async startSession({ settings, interactive, clientWorkspace }) {
      const merged = { ...changedSettings(services.defaultSettings, settings), interactive };
      const workingDir = settings?.workingDir ?? "";
      if (clientWorkspace !== undefined && workingDir !== "") {
        throw new ServiceError(
          "invalid_argument",
          "A session has a working_dir of the server or a client_workspace, not both.",
        );
      }
      const session =
        clientWorkspace === undefined
          ? await manager.start(merged, workingDir, user())
          : await manager.startForClient(merged, clientWorkspaceFromWire(clientWorkspace), user());
      return {
        sessionId: session.id,
        capabilities: await capabilitiesOf(session),
        workingDir: session.workspace.root,
        settings: settingsToMessage({ ...session.settings, workingDir: session.workspace.root }),
      };
    },

    async clearSession({ sessionId }) {
      await (await manager.get(sessionId)).clear();
      return {};
    },

    async listScenarios({ sessionId }) {
      const session = sessionId === "" ? undefined : await manager.get(sessionId);
      await session?.workspace.syncControl({ maxAgeMs: 1000 });
      const { scenarios } = await loadScenarios(
        session?.workspace.controlRoot ?? (await manager.workspaceOfCaller()) ?? "",
      );
      return {
        scenarios: [...scenarios.values()].map(({ name, description, toolsText }) => ({
          name,
          description,
          tools: toolsText,
        })),
        skills: session === undefined ? [] : await listedSkills(session),
      };
    },

    async *invoke(request, context) {
      yield* invoke(await manager.get(request.sessionId), request, context.signal);
    },

    setModelKey,
    ...chooseModel,
    ...attempts,
    ...backgroundRpcs(manager),
    ...changeRpcs(manager),
    ...sessionRpcs(manager),
    ...workspaceRpcs(manager),

    async submitClientEvent(event) {
      return submitClientEvent(manager, event);
    },

    async waitForAnswer({ sessionId, requestId }) {
      await waitForAnswer(await manager.get(sessionId), requestId);
      return {};
    },

    async getTodos({ sessionId }) {
      return { items: (await manager.get(sessionId)).state.todos.map(todoToMessage) };
    },

    async writeTodos({ sessionId, items }) {
      const session = await manager.get(sessionId);
      await session.writeTodos(todosFromWire(items, session.state.todos, services.now()));
      return { items: session.state.todos.map(todoToMessage) };
    },

    async getConversationPreview({ sessionId, maxMessages }) {
      if (maxMessages < 0) throw new ServiceError("invalid_argument", "max_messages cannot be negative.");
      const session = await manager.get(sessionId);
      return {
        preview: conversationPreview(session.state.conversation.messages, maxMessages === 0 ? 10 : maxMessages),
      };
    },

    async setSettings({ sessionId, settings }) {
      const session = await manager.get(sessionId);
      const workingDir = settings?.workingDir ?? "";
      if (workingDir !== "" && workingDir !== session.workspace.root) {
        throw new ServiceError("invalid_argument", "settings.working_dir is fixed once a session has started.", {
          hint: "Start another session for another workspace.",
        });
      }
      const merged = changedSettings(session.settings, settings);
      await manager.checkModel(merged);
      await session.changeSettings(merged);
      return { settings: settingsToMessage({ ...session.settings, workingDir: session.workspace.root }) };
    },

    async startTurn(request) {
      const session = await manager.get(request.sessionId);
      const turn = await startTurn(session, turnInputFromWire(request, request.clientTurnId));
      return { turnId: turn.turnId, afterSeq: BigInt(turn.afterSeq), alreadyStarted: turn.alreadyStarted };
    },

    async queueMessage(request) {
      return { turnId: await queueMessage(await manager.get(request.sessionId), saidMessageFromWire(request)) };
    },

    async withdrawMessage({ sessionId, messageId }) {
      const { text, images } = await withdrawMessage(await manager.get(sessionId), messageId);
      return { text, images: images.map((bytes) => Uint8Array.from(bytes)) };
    },

    async *subscribe(request, context) {
      const session = await manager.get(request.sessionId);
      const afterSeq = Number(request.afterSeq);
      // The log's word, not this server's: another one may be writing.
      const lastSeq = (await services.log.head(session.id))?.lastSeq ?? 0;
      if (afterSeq > lastSeq) {
        throw new ServiceError("invalid_argument", `The session's last event is ${lastSeq}, after_seq is beyond it.`);
      }
      yield* streamEvents(session, {
        afterSeq,
        client: clientMeant(request.client, session),
        ...(request.untilTurnId === "" ? {} : { untilTurnId: request.untilTurnId }),
        greet: true,
        batches: request.batches,
        signal: context.signal,
      });
    },

    async cancelTurn({ sessionId, turnId, reason }) {
      const session = await manager.get(sessionId);
      const ended = await session.turns.cancel(reason, turnId === "" ? undefined : turnId);
      return { wasRunning: ended !== undefined, turnId: ended ?? "" };
    },

    async stopToolCall({ sessionId, turnId, toolCallId }) {
      const { runningCalls } = await manager.get(sessionId);
      return { wasRunning: await runningCalls.stop({ turnId, callId: toolCallId }) };
    },

    async stop({ scope, sessionId, reason }) {
      const isMeant = await sessionsMeant(manager, scope, sessionId);
      const [caller, all] = [user(), seesAll()];
      const isTheirs = (session: Session): boolean => isMeant(session) && (all || session.user === caller);
      const [turnIds] = await Promise.all([manager.stop(isTheirs, reason), stopAttempts(isTheirs)]);
      return { stopped: true, turnIds: [...turnIds] };
    },

    async listSessions({ workingDir, limit }) {
      if (limit < 0) throw new ServiceError("invalid_argument", "limit cannot be negative.");
      const heads = await manager.list({
        ...(workingDir === "" ? {} : { workspaceRoot: resolvePlace(workingDir, user()) }),
        ...(seesAll() ? {} : { user: user() }),
        limit: limit === 0 ? 100 : Math.min(limit, 1000),
      });
      const roots = new Set(heads.map(({ workspaceRoot }) => workspaceRoot));
      const branches = new Map([...roots].map((root) => [root, branchAt(root)]));
      return {
        sessions: await Promise.all(
          heads.map(async (head) => {
            const session = await manager.open(head.sessionId);
            return {
              ...sessionToWire(head, session?.runningTurnId),
              guardedAgent: guarded.agentOf(head.sessionId) ?? "",
              branch: branches.get(head.workspaceRoot) ?? "",
              question: (session && questionsOf(session.state)[0]) ?? "",
              unseenFiles: session?.state.unseenFiles ?? 0,
            };
          }),
        ),
      };
    },

    async resumeSession({ sessionId }) {
      const session = await manager.get(sessionId);
      const head = await services.log.head(sessionId);
      if (head === undefined) throw new ServiceError("not_found", "There is no such session.");
      return {
        session: {
          ...sessionToWire(head, session.runningTurnId),
          workingDir: session.workspace.root,
          editingMode: editingModeWords.toMessage(session.settings.editingMode),
          usage: usageSumToWire(session.state.usage),
        },
        settings: settingsToMessage({ ...session.settings, workingDir: session.workspace.root }),
        capabilities: await capabilitiesOf(session),
        ...cutOffTurn(session),
      };
    },

    async forkSession({ sessionId, throughSeq }) {
      return { sessionId: (await manager.fork(sessionId, Number(throughSeq))).id };
    },

    async getServerInfo() {
      const workingDir = (await manager.workspaceOfCaller()) ?? "";
      const git = await gitIsolation();
      return {
        version,
        protocolVersion,
        features: [...features, ...(services.callers.current()?.isApprover === true ? ["approvals"] : [])],
        defaultWorkingDir: workingDir,
        defaultSettings: settingsToMessage({ ...services.defaultSettings, workingDir }),
        isolation: isolationOf(services.stages),
        isolationReason: services.isolationReason,
        gitIsolation: git.state,
        gitIsolationReason: git.reason,
        stages: stagesWord(services.stages?.mode ?? "ask"),
      };
    },

    async getBlob({ sessionId, sha256 }) {
      const session = await manager.get(sessionId);
      const { blobs, fileContents } = session.state;
      const named = digest(sha256);
      const content = blobs.has(named)
        ? await services.blobs.get(named)
        : fileContents.has(named)
          ? await session.seen.shown(named)
          : undefined;
      if (content === undefined)
        throw new ServiceError("not_found", "The session names no such content, it was purged, or it holds a secret.");
      return { content };
    },
  };

  /** An admin who looks on is asked nothing: the answer would not be the user's. */
  function clientMeant(info: ClientInfo | undefined, session: Session): AttachedClient {
    const client = clientFromWire(info, session);
    return session.user === user() ? client : { ...client, abilities: new Set() };
  }

  async function capabilitiesOf(session: Session) {
    return { ...(await services.createModel(session.settings)).capabilities };
  }
}

function cutOffTurn({ state }: Session) {
  const turn = state.continuableTurn;
  return turn === undefined ? {} : { cutOffTurn: { turnId: turn.turnId, ...turn.cutOff } };
}

/** Empty where there is none: a directory that is gone must not get the branch of one above it. */
function branchAt(root: string): string {
  const head = isAbsolute(root) && existsSync(root) ? readGitHead(root) : undefined;
  return head?.type === "branch" ? head.branch : "";
}

/** A session as lists show it. */
function sessionToWire(head: SessionHead, runningTurnId: string | undefined) {
  return {
    sessionId: head.sessionId,
    user: head.user,
    workingDir: head.workspaceRoot,
    title: head.title,
    created: timestampFromMs(head.created),
    updated: timestampFromMs(head.updated),
    lastSeq: BigInt(head.lastSeq),
    runningTurnId: runningTurnId ?? "",
  };
}
