import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import type { CommandOptions, Editor, RequestOptions } from "@gennai/client/connection/editor";
import type {
  ApplyRequest,
  CommandRequest,
  CommandRun,
  Diagnostic,
  FileRead,
  FileReadRequest,
  FoundSymbols,
  SymbolRequest,
} from "@gennai/protocol/model/session/editor-requests";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import type { ChangeSets } from "./apply/change-sets.ts";
import { finalChange } from "./apply/final-change.ts";
import { callLanguageModel } from "./chat/language-model.ts";
import { EditorError } from "./editor/editor-error.ts";
import type { EditorFiles } from "./editor/files/editor-files.ts";
import { readFile } from "./editor/files/read-file.ts";
import { findSymbols } from "./editor/find-symbols.ts";
import { realPathOf } from "./editor/real-path.ts";
import { nameInWorkspace, resolveInWorkspace } from "./editor/workspace-paths.ts";
import { pathOf } from "./editor/workspace-uri.ts";
import type { TerminalCommands } from "./terminal/terminal-commands.ts";

export interface VsCodeEditorOptions {
  /** The session's folder, absolute: requests may reach only this one of the window's folders. */
  readonly workspace: string;
  readonly files: EditorFiles;
  readonly changeSets: ChangeSets;
  /** undefined if there is no shell. */
  readonly terminal: TerminalCommands | undefined;
  /** The folder, if this window holds it for a server that cannot reach it. */
  readonly held?: ClientWorkspacePort | undefined;
}

/**
 * What a server may request from this VS Code window, for one session's folder. It does not include confirmations: the REPL shows
 * and answers them. Errors are `EditorError`s.
 */
export class VsCodeEditor implements Editor {
  readonly workspace?: ClientWorkspacePort;
  readonly runCommand?: (request: CommandRequest, options: CommandOptions) => Promise<CommandRun>;
  readonly #options: VsCodeEditorOptions;

  constructor(options: VsCodeEditorOptions) {
    this.#options = options;
    const { terminal, held } = options;
    if (held !== undefined) this.workspace = held;
    if (terminal === undefined) return;
    this.runCommand = async (request, call) => {
      requireTrust("runs no commands");
      return terminal.run(request, call);
    };
  }

  readFile(request: FileReadRequest): Promise<FileRead> {
    return readFile(this.#options.files, this.#options.workspace, request);
  }

  /** Documents with unsaved changes stay unsaved; their user saves them. */
  async applyChanges(request: ApplyRequest, { signal }: RequestOptions): Promise<readonly AppliedFile[]> {
    requireTrust("changes no files");
    return this.#options.changeSets.apply(request.changes.map(finalChange), {
      save: "clean",
      signal,
    });
  }

  callModel({ requestJson }: { readonly requestJson: string }, options: RequestOptions): Promise<string> {
    return callLanguageModel(requestJson, options);
  }

  listDiagnostics({ paths }: { readonly paths: readonly string[] }): Promise<readonly Diagnostic[]> {
    return listDiagnostics(this.#options.workspace, paths);
  }

  findSymbols(request: SymbolRequest, options: RequestOptions): Promise<FoundSymbols> {
    return findSymbols(this.#options.workspace, request, options);
  }
}

function requireTrust(whatNot: string): void {
  if (vscode.workspace.isTrusted) return;
  throw new EditorError(
    "untrusted_workspace",
    `You have not said that you trust this workspace, so Gennai ${whatNot} in it.`,
    "Trust it with “Workspaces: Manage Workspace Trust”.",
  );
}

/** Most diagnostics in one answer. */
const most = 2000;

const severities = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "information",
  [vscode.DiagnosticSeverity.Hint]: "hint",
} as const;

/** What the editor's language tools report about files of the workspace, the worst first; without paths: about all files. */
async function listDiagnostics(workspace: string, paths: readonly string[]): Promise<readonly Diagnostic[]> {
  const wanted = await Promise.all(paths.map((path) => resolveInWorkspace(workspace, path)));
  const root = await realPathOf(workspace);
  const found: Diagnostic[] = [];
  for (const [uri, diagnostics] of vscode.languages.getDiagnostics()) {
    const named = pathOf(uri);
    if (named === undefined) continue;
    const absolute = await realPathOf(named).catch(() => named);
    const path = nameInWorkspace(root, absolute);
    if (path === undefined || (wanted.length > 0 && !wanted.some((file) => file.absolute === absolute))) continue;
    for (const { range, severity, message, source } of diagnostics) {
      found.push({
        path,
        line: range.start.line + 1,
        column: range.start.character + 1,
        severity: severities[severity],
        message: message.slice(0, 4000),
        source: source ?? "",
      });
    }
  }
  const rank = { error: 0, warning: 1, information: 2, hint: 3 };
  return found.sort((one, other) => rank[one.severity] - rank[other.severity]).slice(0, most);
}
