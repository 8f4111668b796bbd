import * as vscode from "vscode";

const openedKey = "gennai.walkthroughOpened";

/**
 * Opens the walkthrough when this user's VS Code runs the extension for the first time. VS Code itself does so only if a window's
 * own Extensions view installed it: not after `--install-extension`, and not in a window that is opened later. It opens behind
 * the open tab, without taking the focus; not at all if `workbench.welcomePage.walkthroughs.openOnInstall` is off.
 *
 * @param isInRepl true if the side bar shows the REPL: a person who opened it wants to type there
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
  // A page of VS Code itself, such as its welcome page, is not a file to work in.
  const inactive = activeTab === undefined || activeTab.input !== undefined;
  // A preview tab would be replaced.
  if (inactive && activeTab?.isPreview === true) await vscode.commands.executeCommand("workbench.action.keepEditor");
  const id = `${extension.id}#gennai.start`;
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", id, { toSide: false, inactive });
  if (isInRepl()) await vscode.commands.executeCommand("gennai.repl.focus");
}
