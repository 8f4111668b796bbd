import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CodeServer } from "./code-server.ts";

export type Settings = Readonly<Record<string, unknown>>;

/** A workbench without greetings, questions and anything that reaches out. */
const quiet: Settings = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "files.hotExit": "off",
  "git.openRepositoryInParentFolders": "never",
  "remote.autoForwardPorts": false,
  "security.workspace.trust.enabled": false,
  "terminal.integrated.enablePersistentSessions": false,
  "window.confirmBeforeClose": "never",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** Sets what a user of this server has set, and forgets what extensions kept there. A workbench reads it as it starts. */
export async function writeUserSettings(server: CodeServer, settings: Settings): Promise<void> {
  const directory = join(server.userData, "User");
  const kept = ["globalStorage", "workspaceStorage", "History", "snippets", "keybindings.json"];
  await Promise.all(kept.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  await writeFile(join(directory, "settings.json"), JSON.stringify({ ...quiet, ...settings }, undefined, 2));
}
