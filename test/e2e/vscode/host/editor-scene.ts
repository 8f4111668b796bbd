import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import { ChangeSets } from "../../../../packages/vscode/src/apply/change-sets.ts";
import { VsCodeFiles } from "../../../../packages/vscode/src/editor/files/vscode-files.ts";
import { TerminalCommands } from "../../../../packages/vscode/src/terminal/terminal-commands.ts";
import { VsCodeTerminals } from "../../../../packages/vscode/src/terminal/vscode-terminals.ts";
import { VsCodeEditor } from "../../../../packages/vscode/src/vscode-editor.ts";
import type { BridgeScene } from "../../../conformance/bridge/bridge-scene.ts";

export interface EditorScene extends BridgeScene, AsyncDisposable {
  readonly editor: VsCodeEditor & Required<Pick<VsCodeEditor, "runCommand">>;
  readonly files: VsCodeFiles;
  readonly changeSets: ChangeSets;
}

/** The editor of the extension on a new directory of the open workspace. Every question is answered with yes, once. */
export async function editorScene(): Promise<EditorScene> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) throw new Error("No folder is open.");
  const both = await realpath(await mkdtemp(join(folder.uri.fsPath, "scene-")));
  const workspace = join(both, "workspace");
  const outside = join(both, "outside");
  await mkdir(workspace);
  await mkdir(outside);
  const files = new VsCodeFiles();
  const changeSets = new ChangeSets({ files, workspace });
  const terminal = new TerminalCommands({ terminals: new VsCodeTerminals(), workspace });
  const editor = new VsCodeEditor({ workspace, files, changeSets, terminal });
  const { runCommand } = editor;
  if (runCommand === undefined) throw new Error("An editor with a terminal runs commands.");
  const confirm = async () => ({ answer: "yes", scope: "once" }) as const;
  return {
    editor: Object.assign(editor, { confirm, runCommand }),
    files,
    changeSets,
    root: workspace,
    outside,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      for (const document of vscode.workspace.textDocuments) {
        if (document.isDirty && document.uri.fsPath.startsWith(both)) {
          await vscode.window.showTextDocument(document);
          await vscode.commands.executeCommand("workbench.action.files.revert");
        }
      }
      await vscode.commands.executeCommand("workbench.action.closeAllEditors");
      await rm(both, { recursive: true, force: true });
    },
  };
}
