import { resolve } from "node:path";
import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type PermissionOption,
  type RequestPermissionOutcome,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type {
  CommandOptions,
  ConfirmationQuestion,
  ConfirmationReply,
  Editor,
  RequestOptions,
} from "@gennai/client/connection/editor";
import { offeredAnswers } from "@gennai/client/questions/offered-answers";
import { questionWords } from "@gennai/client/questions/question-words";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { explanationsOf } from "@gennai/protocol/model/governance/question";
import type {
  ApplyRequest,
  CommandRequest,
  CommandRun,
  FileRead,
  FileReadRequest,
} from "@gennai/protocol/model/session/editor-requests";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { askUser } from "./ask-user.ts";
import { diskBytes, type EditorFile, editorFile, pathInWorkspace, writtenFile } from "./editor-file.ts";
import { unlessWithdrawn } from "./withdrawn-request.ts";

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
    askUser: ({ questions }, { signal }) => askUser(questions, signal, options),
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
  const { outcome } = await unlessWithdrawn(
    client.request(
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
    ),
    signal,
  );
  return confirmationReply(question, outcome);
}

/** The editor's text; whether it is saved, the disk says. */
async function readBuffer(request: FileReadRequest, signal: AbortSignal, options: AcpEditorOptions): Promise<FileRead> {
  const path = await pathInWorkspace(request.path, options.workingDir);
  const { text, eol, bom, sha256, diskSha256 } = await fileInEditor(path, signal, options);
  const dirty = sha256 !== diskSha256;
  const lines = text.split("\n");
  const first = Math.max(0, request.offset - 1);
  const part = request.limit > 0 ? lines.slice(first, first + request.limit) : lines.slice(first);
  return {
    content: part.join("\n"),
    source: dirty ? "buffer" : "disk",
    encoding: "utf8",
    version: 0,
    dirty,
    sha256,
    diskSha256,
    eol,
    bom,
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
    const path = await pathInWorkspace(name, options.workingDir);
    const before = operation === "create" ? undefined : await fileInEditor(path, signal, options);
    if (before !== undefined && before.sha256 !== baseSha256) {
      throw new Error(`${name} was changed in the editor meanwhile. Read it again.`);
    }
    planned.push({ name, path, operation, before, after: writtenFile(newContent, before) });
  }
  const written: typeof planned = [];
  try {
    for (const file of planned) {
      await write(file.path, file.after.text, options);
      written.push(file);
    }
  } catch (error) {
    for (const { path, before } of written) {
      if (before !== undefined) await write(path, writtenFile(before.text, before).text, options);
    }
    throw error;
  }
  return planned.map(({ name, operation, before, after }) => ({
    path: name,
    operation,
    beforeSha256: before?.sha256,
    afterSha256: after.sha256,
  }));
}

async function write(path: string, content: string, { client, sessionId }: AcpEditorOptions): Promise<void> {
  await client.request(methods.client.fs.writeTextFile, { sessionId: sessionId(), path, content });
}

async function fileInEditor(path: string, signal: AbortSignal, options: AcpEditorOptions): Promise<EditorFile> {
  const given = await bufferText(path, signal, options);
  return editorFile(given, await diskBytes(path));
}

async function bufferText(path: string, signal: AbortSignal, { client, sessionId }: AcpEditorOptions): Promise<string> {
  const options = { cancellationSignal: signal };
  const { content } = await unlessWithdrawn(
    client.request(methods.client.fs.readTextFile, { sessionId: sessionId(), path }, options),
    signal,
  );
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

/** The answers to a question of the gate, the narrowest first. Only what the server offered is among them. */
export function permissionOptions(question: ConfirmationQuestion): readonly PermissionOption[] {
  return [
    ...offeredAnswers(question).map(({ id, words, reply }): PermissionOption => {
      const kind = reply.scope === "once" ? "allow_once" : "allow_always";
      return { optionId: id, name: spelledOut(words), kind };
    }),
    { optionId: "deny", name: questionWords(question).no, kind: "reject_once" },
  ];
}

/** What a person chose; what was not offered is nobody's answer. */
export function confirmationReply(
  question: ConfirmationQuestion,
  outcome: RequestPermissionOutcome,
): ConfirmationReply {
  if (outcome.outcome === "cancelled") return { answer: "nobody", reason: "The editor closed the question." };
  if (outcome.optionId === "deny") return { answer: "no", reason: "Denied in the editor." };
  const chosen = offeredAnswers(question).find(({ id }) => id === outcome.optionId);
  return chosen?.reply ?? { answer: "nobody", reason: "The editor gave an answer that was not offered." };
}

/** The question as an editor shows it: what the server computed first, and what the model claims apart from it. */
export function questionContent(question: ConfirmationQuestion): readonly ToolCallContent[] {
  const { computed, actionStatement, modelClaim, diff, actionJson } = question;
  const facts = [
    `**${computed.risk} risk**, computed by the server`,
    fencedText(spelledOut(actionStatement)),
    ...explanationsOf(question).map(({ text }) => fencedText(spelledOut(text))),
    fencedText(spelledOut(`${computed.reason} (${computed.rule})`)),
    ...(diff === undefined ? [] : [fencedText(spelledOut(diff), "diff")]),
    `Exactly:\n\n${fencedText(spelledOut(actionJson), "json")}`,
  ];
  const claim = modelClaim === "" ? [] : [text(`The model claims:\n\n${fencedText(spelledOut(modelClaim))}`)];
  return [text(facts.join("\n\n")), ...claim];
}

function text(markdown: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: markdown } };
}
