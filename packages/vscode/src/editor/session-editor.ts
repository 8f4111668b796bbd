import type { CommandOptions, Editor } from "@gennai/client/bridge/editor";
import type { HeldWorkspace } from "@gennai/client/held-workspace/held-workspace";
import type { CommandRequest } from "@gennai/protocol/model/editor-requests";
import { VsCodeEditor, type VsCodeEditorOptions } from "./vscode-editor.ts";

/** What a session may ask of this window. Without confirmations: those stand in the REPL, which answers them itself. */
export function sessionEditor(
  options: Omit<VsCodeEditorOptions, "confirm"> & {
    /** The folder, while this window holds it for a server that cannot reach it. */
    readonly held: HeldWorkspace | undefined;
    /** False where there is no shell. */
    readonly hasTerminal: boolean;
  },
): Editor {
  const full = new VsCodeEditor({
    ...options,
    confirm: async () => ({ answer: "nobody", reason: "Questions are answered in the REPL." }),
  });
  return {
    ...(options.held === undefined ? {} : { workspace: options.held }),
    readFile: (request) => full.readFile(request),
    ...(options.hasTerminal
      ? { runCommand: (request: CommandRequest, call: CommandOptions) => full.runCommand(request, call) }
      : {}),
    applyChanges: (request, call) => full.applyChanges(request, call),
    callModel: (request, call) => full.callModel(request, call),
    listDiagnostics: (paths) => full.listDiagnostics(paths),
    findSymbols: (request, call) => full.findSymbols(request, call),
  };
}
