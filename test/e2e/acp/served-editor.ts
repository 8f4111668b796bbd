import {
  type AnyMessage,
  type ClientCapabilities,
  type CreateElicitationResponse,
  client,
  methods,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { EditorMcpServers } from "@gennai/acp/editor/editor-mcp-servers";
import { serveEditor } from "@gennai/acp/serve-editor";
import { connectGovernance, connectPlans } from "@gennai/client/connection/connection";
import { startTestServer, type TestServerOptions } from "@gennai/testkit/test-server";

export interface ServedEditorOptions extends TestServerOptions {
  readonly capabilities?: ClientCapabilities;
  /** Texts of buffers by absolute path; what is not there is not open, and read as UTF-8 with line feeds. */
  readonly buffers?: (root: string) => Map<string, string>;
  /** Which option is chosen; undefined: the question is closed. */
  readonly choose?: (question: RequestPermissionRequest) => string | undefined | Promise<string | undefined>;
  readonly fillIn?: () => CreateElicitationResponse;
  readonly mcp?: EditorMcpServers;
}

const noMcp: EditorMcpServers = { offer: async () => [], accept: async () => undefined };

/** An editor based on the protocol's own library, and its agent in this process, with a server. */
export async function servedEditor(options: ServedEditorOptions) {
  const parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer(options));
  const { root } = server.workspace;
  const toAgent = new TransformStream<AnyMessage, AnyMessage>();
  const toEditor = new TransformStream<AnyMessage, AnyMessage>();
  const ending = new AbortController();
  const { token, url: baseUrl } = server;
  const agentEnd = serveEditor(
    { readable: toAgent.readable, writable: toEditor.writable },
    {
      settings: {},
      version: "0.0.0-test",
      keepsKeys: true,
      signal: ending.signal,
      userName: "somebody",
      mcp: options.mcp ?? noMcp,
      directoryOf: async (path) => path,
      serverOf: async () => ({
        agent: server.client,
        governance: connectGovernance({ baseUrl, token }),
        plans: connectPlans({ baseUrl, token }),
      }),
    },
  );
  const updates: SessionUpdate[] = [];
  const questions: RequestPermissionRequest[] = [];
  const forms: unknown[] = [];
  const buffers = options.buffers?.(root) ?? new Map<string, string>();
  const connection = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      questions.push(params);
      const optionId = await options.choose?.(params);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.push(params);
      return options.fillIn?.() ?? { action: "cancel" };
    })
    .onRequest(methods.client.fs.readTextFile, async ({ params: { path } }) => {
      const text = buffers.get(path) ?? (await server.workspace.read(path.slice(root.length + 1)));
      return { content: text.replaceAll("\r\n", "\n") };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
      buffers.set(path, content);
      return {};
    })
    .connect({ readable: toEditor.readable, writable: toAgent.writable });
  /** As when its process ends. */
  const goAway = () => {
    connection.close();
    agentEnd.close();
    ending.abort();
  };
  parts.defer(goAway);
  const { agent } = connection;
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: options.capabilities ?? {},
  });
  const session = await agent.request(methods.agent.session.new, { cwd: root, mcpServers: [] });
  const { sessionId } = session;
  return {
    server,
    agent,
    goAway,
    session,
    sessionId,
    updates,
    questions,
    forms,
    buffers,
    prompt: (text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    cancel: () => agent.notify(methods.agent.session.cancel, { sessionId }),
    set: (configId: string, value: string) =>
      agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
