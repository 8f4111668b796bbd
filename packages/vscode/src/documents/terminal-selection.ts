import * as vscode from "vscode";

/**
 * The selected text in the active terminal; empty: nothing. The editor only passes it on by the clipboard, whose text is restored
 * afterwards.
 */
export async function terminalSelection(): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  // If the selection cannot be copied, the clipboard's old text must not be taken for it.
  await vscode.env.clipboard.writeText("");
  try {
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
    return await vscode.env.clipboard.readText();
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}
