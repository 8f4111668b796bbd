import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { type AgentContext, type ClientCapabilities, methods } from "@agentclientprotocol/sdk";
import type {
  CommandOptions,
  ConfirmationQuestion,
  ConfirmationReply,
  Editor,
  RequestOptions,
} from "@gennai/client/bridge/editor";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type {
  ApplyRequest,
  CommandRequest,
  CommandRun,
  FileRead,
  FileReadRequest,
} from "@gennai/protocol/model/editor-requests";
import type { AppliedFile } from "@gennai/protocol/model/proposal";
import { confirmationReply, permissionOptions, questionContent } from "./permission.ts";

/** The editor at the other end. */
export type EditorPeer = Pick<AgentContext, "request" | "notify" | "createTerminal">;

export interface AcpEditorOptions {
  readonly client: EditorPeer;
  readonly capabilities: ClientCapabilities;
  /** Asked when the server wants something: by then the session has its id. */
  readonly sessionId: () => string;
  /** Absolute. */
  readonly workingDir: string;
}

/** Bytes of a terminal's output that come back. */
const outputBytes = 1024 * 1024;

/** What the server may ask of an editor behind the protocol: as much as the editor says it can. */
export function acpEditor(options: AcpEditorOptions): Editor {
  const { fs, terminal } = options.capabilities;
  const confirm = (question: ConfirmationQuestion, { signal }: RequestOptions) => ask(question, signal, options);
  return {
    confirm,
    ...(fs?.readTextFile === true
      ? { readFile: (request: FileReadRequest, { signal }: RequestOptions) => readBuffer(request, signal, options) }
      : {}),
    ...(fs?.readTextFile === true && fs.writeTextFile === true
      ? { applyChanges: (request: ApplyRequest, { signal }: RequestOptions) => writeBuffers(request, signal, options) }
      : {}),
    ...(terminal === true
      ? { runCommand: (request: CommandRequest, asked: CommandOptions) => runInTerminal(request, asked, options) }
      : {}),
  };
}

async function ask(
  question: ConfirmationQuestion,
  signal: AbortSignal,
  { client, sessionId }: AcpEditorOptions,
): Promise<ConfirmationReply> {
  const { outcome } = await client.request(
    methods.client.session.requestPermission,
    {
      sessionId: sessionId(),
      toolCall: {
        toolCallId: question.callId,
        title: spelledOut(question.title),
        content: [...questionContent(question)],
      },
      options: [...permissionOptions(question)],
    },
    { cancellationSignal: signal },
  );
  return confirmationReply(question, outcome);
}

/** The editor's text; whether it is saved, the disk says. */
async function readBuffer(request: FileReadRequest, signal: AbortSignal, options: AcpEditorOptions): Promise<FileRead> {
  const path = inWorkspace(request.path, options);
  const text = await bufferText(path, signal, options);
  const disk = await readFile(path).catch(() => undefined);
  const digest = sha256(text);
  const diskSha256 = disk === undefined ? "" : sha256(disk);
  const lines = text.split("\n");
  const first = Math.max(0, request.offset - 1);
  const part = request.limit > 0 ? lines.slice(first, first + request.limit) : lines.slice(first);
  return {
    content: part.join("\n"),
    source: digest === diskSha256 ? "disk" : "buffer",
    encoding: "utf8",
    version: 0,
    dirty: digest !== diskSha256,
    sha256: digest,
    diskSha256,
    eol: text.includes("\r\n") ? "crlf" : "lf",
    bom: false,
    truncated: false,
    totalLines: lines.length,
  };
}

/**
 * The protocol writes one file at a time. All are compared with their bases first, and when one cannot be written, those before it
 * get their texts back.
 */
async function writeBuffers(
  { changes }: ApplyRequest,
  signal: AbortSignal,
  options: AcpEditorOptions,
): Promise<readonly AppliedFile[]> {
  const planned = [];
  for (const { path: name, operation, newContent, baseSha256 } of changes) {
    if (operation === "delete")
      throw new Error(`${name} has unsaved changes in the editor. Save it, then it can be deleted.`);
    const path = inWorkspace(name, options);
    const before = operation === "create" ? undefined : await bufferText(path, signal, options);
    if (before !== undefined && sha256(before) !== baseSha256) {
      throw new Error(`${name} was changed in the editor meanwhile. Read it again.`);
    }
    planned.push({ name, path, operation, before, after: newContent });
  }
  const written: typeof planned = [];
  try {
    for (const file of planned) {
      await write(file.path, file.after, options);
      written.push(file);
    }
  } catch (error) {
    for (const { path, before } of written) if (before !== undefined) await write(path, before, options);
    throw error;
  }
  return planned.map(({ name, operation, before, after }) => ({
    path: name,
    operation,
    beforeSha256: before === undefined ? undefined : sha256(before),
    afterSha256: sha256(after),
  }));
}

async function write(path: string, content: string, { client, sessionId }: AcpEditorOptions): Promise<void> {
  await client.request(methods.client.fs.writeTextFile, { sessionId: sessionId(), path, content });
}

async function bufferText(path: string, signal: AbortSignal, { client, sessionId }: AcpEditorOptions): Promise<string> {
  const options = { cancellationSignal: signal };
  const { content } = await client.request(methods.client.fs.readTextFile, { sessionId: sessionId(), path }, options);
  return content;
}

/** In the editor's own terminal, where the person sees and can stop it. */
async function runInTerminal(
  { command, cwd }: CommandRequest,
  { signal, onOutput }: CommandOptions,
  { client, sessionId, workingDir }: AcpEditorOptions,
): Promise<CommandRun> {
  await using terminal = await client.createTerminal(
    {
      sessionId: sessionId(),
      command: "bash",
      args: ["-c", command],
      cwd: resolve(workingDir, cwd),
      outputByteLimit: outputBytes,
    },
    { cancellationSignal: signal },
  );
  const stop = (): void => void terminal.kill().catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { exitCode } = await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    onOutput(output);
    return { state: "exited", exitCode: exitCode ?? undefined, output, truncated, terminalId: terminal.id };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The server names files of the workspace; anything else is refused. */
function inWorkspace(name: string, { workingDir }: AcpEditorOptions): string {
  const path = resolve(workingDir, name);
  const below = relative(workingDir, path);
  if (below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) {
    throw new Error(`${name} is outside of the workspace.`);
  }
  return path;
}

function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
