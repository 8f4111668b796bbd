import type { Editor } from "@gennai/client/editor";
import { VsCodeEditor, type VsCodeEditorOptions } from "./vscode-editor.ts";

/** What a session may ask of this window. Without confirmations: those stand in the REPL, which answers them itself. */
export function sessionEditor(options: Omit<VsCodeEditorOptions, "confirm">): Editor {
  const full = new VsCodeEditor({
    ...options,
    confirm: async () => ({ answer: "nobody", reason: "Questions are answered in the REPL." }),
  });
  return {
    readFile: (request) => full.readFile(request),
    runCommand: (request, call) => full.runCommand(request, call),
    applyChanges: (request, call) => full.applyChanges(request, call),
    callModel: (request, call) => full.callModel(request, call),
    listDiagnostics: (paths) => full.listDiagnostics(paths),
    findSymbols: (request, call) => full.findSymbols(request, call),
    listWorkspace: (path, call) => full.listWorkspace(path, call),
  };
}
