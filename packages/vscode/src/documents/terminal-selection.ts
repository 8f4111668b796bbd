import * as vscode from "vscode";

/**
 * What is selected in the active terminal; empty: nothing. The editor tells it by the clipboard alone, whose text is put back
 * afterwards.
 */
export async function terminalSelection(): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  // A selection that cannot be copied must not be taken for what lay on the clipboard.
  await vscode.env.clipboard.writeText("");
  try {
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
    return await vscode.env.clipboard.readText();
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}
