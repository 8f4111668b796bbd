import {
  type AgentConnection,
  type AgentContext,
  type AuthMethod,
  agent,
  type ClientCapabilities,
  type Implementation,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import { ConnectError } from "@connectrpc/connect";
import type { AgentClient, GovernanceClient, PlanClient } from "@gennai/client/connection/connection";
import { listSessions } from "@gennai/client/session/session-list";
import { errorMessage } from "@gennai/protocol/error-message";
import { type Backend, backendLabel, isSelfHosted, providerNames } from "@gennai/protocol/model/session/backend";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import type { EditorMcpServers } from "./editor/editor-mcp-servers.ts";
import { ServedSession } from "./session/served-session.ts";
import { modeOf, modeState } from "./session/session-modes.ts";
import type { SessionContext } from "./session/told-session.ts";

export interface EditorServer {
  readonly agent: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
}

export interface ServeEditorOptions {
  /** What new sessions run with; their directory the editor says. */
  readonly settings: SettingsChoice;
  /** A server for a directory. Rejects with what the person can do. @param workingDir absolute, real */
  readonly serverOf: (workingDir: string) => Promise<EditorServer>;
  readonly mcp: EditorMcpServers;
  /** In whose name the person switches something. */
  readonly userName: string;
  /** Absolute and real. Rejects for what is not a directory. */
  readonly directoryOf: (path: string) => Promise<string>;
  readonly version: string;
  readonly signal: AbortSignal;
  /** The system has a keychain that takes keys. */
  readonly keepsKeys: boolean;
}

/**
 * Answers an editor that speaks the Agent Client Protocol, version 1: sessions of the server, whose gate asks through the
 * editor. Everything that decides is the server's.
 */
export function serveEditor(stream: Stream, options: ServeEditorOptions): AgentConnection {
  const sessions = new Map<string, ServedSession>();
  let capabilities: ClientCapabilities = {};
  let identity: Implementation = { name: "acp", version: "" };

  const placeOf = async (params: Placed, editor: AgentContext): Promise<SessionContext> => {
    const { mcp, userName, signal } = options;
    const workingDir = await told(options.directoryOf(params.cwd));
    const { agent: server, governance, plans } = await told(options.serverOf(workingDir));
    const waiting = await told(mcp.offer(workingDir, params.mcpServers ?? []));
    const { name, version } = identity;
    return {
      server,
      governance,
      plans,
      workingDir,
      mcp,
      waiting,
      userName,
      editor,
      capabilities,
      name,
      version,
      signal,
    };
  };
  const opened = async (session: ServedSession) => {
    sessions.set(session.sessionId, session);
    // After the answer: before it the editor knows no such session.
    setTimeout(() => void session.tellCommands().catch(() => undefined), 0);
    return { modes: modeState(session.mode), configOptions: await told(session.configOptions()) };
  };
  const sessionOf = (sessionId: string): ServedSession => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.invalidParams(undefined, `There is no open session ${sessionId}.`);
    return session;
  };

  return agent({ name: "gennai" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      identity = params.clientInfo ?? identity;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "gennai", title: "Gennai", version: options.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
        authMethods:
          capabilities.auth?.terminal === true && options.keepsKeys ? keysToSet(options.settings.backend) : [],
      };
    })
    .onRequest(methods.agent.authenticate, () => {
      throw RequestError.invalidRequest(undefined, "No login is needed: the server belongs to this user.");
    })
    .onRequest(methods.agent.session.new, async ({ params, client }) => {
      const session = await told(ServedSession.start(options.settings, await placeOf(params, client)));
      return { sessionId: session.sessionId, ...(await opened(session)) };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = await told(ServedSession.resume(params.sessionId, await placeOf(params, client)));
      await told(session.replay());
      return opened(session);
    })
    .onRequest(methods.agent.session.resume, async ({ params, client }) =>
      opened(await told(ServedSession.resume(params.sessionId, await placeOf(params, client)))),
    )
    .onRequest(methods.agent.session.list, async ({ params }) => {
      const directory = await told(options.directoryOf(params.cwd ?? process.cwd()));
      const { agent: server } = await told(options.serverOf(directory));
      const summaries = await told(listSessions(server, directory, options));
      return {
        sessions: summaries.map(({ sessionId, workingDir: cwd, title, updated: updatedAt }) => {
          return { sessionId, cwd, title, updatedAt };
        }),
      };
    })
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await sessions.get(params.sessionId)?.cancel();
      sessions.delete(params.sessionId);
    })
    .onRequest(methods.agent.session.delete, async ({ params: { sessionId } }) => {
      const open = sessions.get(sessionId);
      await open?.cancel();
      const directory = open?.workingDir ?? (await told(options.directoryOf(process.cwd())));
      const { agent: server } = await told(options.serverOf(directory));
      await told(server.deleteSession({ sessionId }, options));
      sessions.delete(sessionId);
    })
    .onRequest(methods.agent.session.setMode, async ({ params }) => {
      const mode = modeOf(params.modeId);
      if (mode === undefined) throw RequestError.invalidParams(undefined, `There is no mode ${params.modeId}.`);
      await told(sessionOf(params.sessionId).setMode(mode));
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params }) => ({
      configOptions: await told(sessionOf(params.sessionId).setConfigOption(params.configId, params.value)),
    }))
    .onRequest(methods.agent.session.prompt, async ({ params }) => ({
      stopReason: await told(sessionOf(params.sessionId).prompt(params.prompt)),
    }))
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel())
    .connect(stream);
}

/** What an editor can start in a terminal to have a key set. @param backend chosen already */
function keysToSet(backend: Backend | undefined): AuthMethod[] {
  const keyed = providerNames.filter((name) => !isSelfHosted(name));
  const chosen = keyed.filter((name) => name === backend);
  return (chosen.length > 0 ? chosen : keyed).map((name) => {
    const args = ["--set-key", name];
    return { type: "terminal", id: `key-${name}`, name: `Set the key of ${backendLabel(name)}`, args };
  });
}

/** Where an editor wants a session. */
interface Placed {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | null;
}

/** What went wrong, in words that an editor shows. */
async function told<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw RequestError.internalError(undefined, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ConnectError) return error.rawMessage;
  return errorMessage(error);
}
