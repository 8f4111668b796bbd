import * as vscode from "vscode";

const openedKey = "gennai.walkthroughOpened";

/**
 * Opens the walkthrough when this user's VS Code runs the extension for the first time. VS Code itself does so only where a window's own
 * Extensions view installed it: not after `--install-extension`, and not in the window that is opened later. It comes behind what is open,
 * and takes the focus from nobody. Whose VS Code opens no walkthroughs (`workbench.welcomePage.walkthroughs.openOnInstall`) gets none.
 *
 * @param isInRepl whether the side bar shows the REPL: a person who opened it wants to type there
 */
export async function openWalkthroughOnce(
  { globalState, extension }: vscode.ExtensionContext,
  isInRepl: () => boolean,
  log: vscode.LogOutputChannel,
): Promise<void> {
  if (globalState.get(openedKey) === true) return;
  await globalState.update(openedKey, true);
  const settings = vscode.workspace.getConfiguration("workbench.welcomePage.walkthroughs");
  if (settings.get("openOnInstall") === false) return;
  log.info("The walkthrough is opened: this is the first time.");
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  // A page of VS Code itself, above all its welcome page, is not a file to work in.
  const inactive = activeTab === undefined || activeTab.input !== undefined;
  // A tab that is a preview would be replaced.
  if (inactive && activeTab?.isPreview === true) await vscode.commands.executeCommand("workbench.action.keepEditor");
  const id = `${extension.id}#gennai.start`;
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", id, { toSide: false, inactive });
  if (isInRepl()) await vscode.commands.executeCommand("gennai.repl.focus");
}
