import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { Analysis, ToolOutcome, Verification } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { CommandRun, Diagnostic, FileRead, FoundSymbol } from "@gennai/protocol/model/session/editor-requests";
import type { Todo } from "@gennai/protocol/model/session/todo";
import type { BlobStore } from "@gennai/store/log/session-log";
import { executionContext } from "@gennai/testkit/execution-context";
import type { EditorBridge } from "#bridge/session-bridge";
import { IntentsService } from "#intents/intents-service";
import { KnownFiles } from "#session/state/known-files";
import { isToolFact } from "#tools/tool-fact";
import { createTools, type ToolPorts } from "#turn/tool-set";

export const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");

/** What a scripted client answers; a path it does not know is `client_error`. */
class ScriptedEditor implements EditorBridge {
  readonly abilities = new Set<string>();
  readonly buffers = new Map<string, Partial<FileRead>>();
  readonly asked: object[] = [];
  failure: ToolFailure | undefined;
  terminal: Partial<CommandRun> = {};
  /** What the editor really writes, when it is not what it was asked to. */
  misapplies: string | undefined;

  can(ability: string): boolean {
    return this.abilities.has(ability);
  }

  async readFile(request: Parameters<EditorBridge["readFile"]>[0]): Promise<FileRead> {
    this.asked.push(request);
    if (this.failure !== undefined) throw this.failure;
    const buffer = this.buffers.get(request.path);
    if (buffer === undefined) throw new ToolFailure("client_error", "no such document");
    const text = buffer.content ?? "";
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    const from = Math.max(0, request.offset - 1);
    const content = lines.slice(from, request.limit === 0 ? undefined : from + request.limit).join("");
    return {
      source: "buffer",
      encoding: "utf8",
      eol: "lf",
      dirty: false,
      version: 1,
      sha256: sha256(text),
      diskSha256: "",
      bom: false,
      truncated: false,
      totalLines: lines.length + (text.endsWith("\n") ? 1 : 0),
      ...buffer,
      content,
    };
  }

  async applyChanges(request: Parameters<EditorBridge["applyChanges"]>[0]): Promise<readonly FileChangeRecord[]> {
    this.asked.push(request);
    if (this.failure !== undefined) throw this.failure;
    return request.changes.map(({ path, newContent, baseSha256 }) => {
      const content = this.misapplies ?? newContent;
      this.buffers.set(path, { ...this.buffers.get(path), content, dirty: true });
      return { path, operation: "update", beforeSha256: baseSha256, afterSha256: sha256(content) };
    });
  }

  diagnostics: readonly Diagnostic[] = [];
  symbols: readonly FoundSymbol[] = [];

  async listDiagnostics({ paths }: { readonly paths: readonly string[] }): Promise<readonly Diagnostic[]> {
    this.asked.push({ paths });
    if (this.failure !== undefined) throw this.failure;
    return this.diagnostics;
  }

  async findSymbols(request: Parameters<EditorBridge["findSymbols"]>[0]) {
    this.asked.push(request);
    if (this.failure !== undefined) throw this.failure;
    return { symbols: this.symbols, truncated: false };
  }

  async runCommand(request: Parameters<EditorBridge["runCommand"]>[0]): Promise<CommandRun> {
    this.asked.push(request);
    if (this.failure !== undefined) throw this.failure;
    return { state: "exited", exitCode: 0, output: "", truncated: false, terminalId: "t1", ...this.terminal };
  }
}

class MemoryBlobs implements BlobStore {
  readonly blobs = new Map<string, Uint8Array>();
  async put(bytes: Uint8Array, mediaType: string) {
    const digest = sha256(bytes);
    this.blobs.set(digest, bytes);
    return { sha256: digest, size: bytes.length, mediaType };
  }
  async get(digest: string) {
    return this.blobs.get(digest);
  }
}

export interface Ran {
  readonly analysis: Analysis;
  readonly outcome: ToolOutcome;
  readonly verification: Verification | undefined;
}

/** The tools on a directory of their own, called as the gate calls them when every policy allows. */
export class ToolBench implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "tools-")));
  readonly editor = new ScriptedEditor();
  readonly blobs = new MemoryBlobs();
  readonly knownFiles = new KnownFiles();
  todos: readonly Todo[] = [];
  activeIntent: string | undefined;
  now = Date.UTC(2026, 0, 1);
  turnId = "turn-1";
  readonly #state = realpathSync(mkdtempSync(join(tmpdir(), "tools-state-")));
  readonly workspace = openLocalWorkspace(this.root, { stateDir: this.#state, home: this.#state });
  readonly tools;

  constructor(ports: Partial<ToolPorts> = {}) {
    this.tools = createTools({
      workspace: this.workspace,
      editor: this.editor,
      knownFiles: this.knownFiles,
      blobs: this.blobs,
      outputs: { text: async () => undefined },
      todos: { read: () => this.todos },
      intents: IntentsService.open({ workspace: this.workspace, stateDir: this.#state }),
      activeIntent: () => this.activeIntent,
      home: this.#state,
      environment: commandEnvironment(process.env),
      exclude: [],
      now: () => this.now,
      ...ports,
    });
  }

  file(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  text(path: string): string | undefined {
    const absolute = join(this.root, path);
    return existsSync(absolute) ? readFileSync(absolute, "utf8") : undefined;
  }

  #tool(name: string) {
    const tool = this.tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  }

  async analyse(name: string, args: object, signal = new AbortController().signal) {
    const tool = this.#tool(name);
    const parsed = tool.parameters.safeParse(args);
    if (!parsed.success)
      throw new ToolFailure("bad_arguments", parsed.error.issues.map(({ message }) => message).join("; "));
    const context = { callId: "call-1", turnId: this.turnId, signal };
    const analysis = await tool.analyse(parsed.data, context);
    const execute = async (onOutput: (text: string) => void = () => {}): Promise<Ran> => {
      const outcome = await tool.execute(parsed.data, analysis, executionContext({ ...context, onOutput }));
      for (const file of outcome.observed ?? []) this.knownFiles.observe(file);
      for (const fact of outcome.facts ?? []) if (isToolFact(fact) && fact.type === "todos") this.todos = fact.items;
      return { analysis, outcome, verification: await tool.verify?.(parsed.data, outcome, context) };
    };
    return { analysis, execute };
  }

  async run(name: string, args: object, signal?: AbortSignal): Promise<Ran> {
    return (await this.analyse(name, args, signal)).execute();
  }

  async output(name: string, args: object): Promise<string> {
    return (await this.run(name, args)).outcome.output;
  }

  /** Code and message of the failure; "no failure" when there is none. */
  async failure(name: string, args: object): Promise<string> {
    try {
      await this.run(name, args);
      return "no failure";
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      return `${error.code}: ${error.message}${error.hint === undefined ? "" : ` | ${error.hint}`}`;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
    rmSync(this.#state, { recursive: true, force: true });
  }
}
