import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { builtProgram } from "@gennai/testkit/built-program";
import {
  type TemporaryDirectory,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";

export const program = builtProgram(import.meta.resolve("@gennai/cli/main"));

export interface EditorOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** What the scripted model does. */
  readonly script: readonly unknown[];
  /** Which option is chosen; undefined: the question is closed. */
  readonly choose?: (question: RequestPermissionRequest) => string | undefined | Promise<string | undefined>;
  /** Where an earlier one was, in place of a state directory and a repository of its own. */
  readonly place?: EditorPlace;
}

export interface EditorPlace {
  readonly state: TemporaryDirectory;
  readonly repository: TemporaryRepository;
}

/** An editor based on the protocol's own library, with `gennai acp` as its agent process. */
export async function openEditor(options: EditorOptions) {
  const stack = new AsyncDisposableStack();
  const state = options.place?.state ?? stack.use(await temporaryDirectory());
  const repository =
    options.place?.repository ?? stack.use(await temporaryRepository(options.files ?? { "a.txt": "one\n" }));
  const script = state.path("script.yaml");
  await writeFile(script, JSON.stringify({ turns: options.script }));
  const args = [program, "acp", "--server", "own", "--backend", "scripted", "--model", script];
  const child = spawn(process.execPath, args, {
    // An editor starts it anywhere, and says later where it works.
    cwd: state.root,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, GENNAI_STATE_DIR: state.path("state"), HOME: state.root },
  });
  stack.defer(() => ended(child));
  let log = "";
  child.stderr.on("data", (chunk) => (log += String(chunk)));

  const updates: SessionUpdate[] = [];
  const questions: RequestPermissionRequest[] = [];
  const connection: ClientConnection = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      questions.push(params);
      const optionId = await options.choose?.(params);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), bytesOf(child.stdout)));
  const { agent } = connection;
  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { auth: { terminal: true } },
    clientInfo: { name: "test-editor", version: "1" },
  });
  return {
    agent,
    initialized,
    state,
    repository,
    updates,
    questions,
    log: () => log,
    process: child,
    newSession: () => agent.request(methods.agent.session.new, { cwd: repository.root, mcpServers: [] }),
    prompt: (sessionId: string, text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** All that the model said, in one text. */
export function saidIn(updates: readonly SessionUpdate[]): string {
  return updates
    .flatMap((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? [update.content.text] : [],
    )
    .join("");
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.stdin?.end();
  await exit;
}

function bytesOf(output: NodeJS.ReadableStream): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      output.on("data", (chunk: Uint8Array) => controller.enqueue(chunk));
      output.on("end", () => controller.close());
    },
  });
}
