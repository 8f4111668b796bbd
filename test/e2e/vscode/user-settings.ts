import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CodeServer } from "./code-server.ts";

export type Settings = Readonly<Record<string, unknown>>;

/** A workbench without greetings, questions and anything that reaches out. */
const quiet: Settings = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  // In a browser it would be on.
  "files.autoSave": "off",
  "files.hotExit": "off",
  "git.openRepositoryInParentFolders": "never",
  "remote.autoForwardPorts": false,
  "security.workspace.trust.enabled": false,
  "terminal.integrated.enablePersistentSessions": false,
  "window.confirmBeforeClose": "never",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

export interface UserChoices {
  readonly settings: Settings;
  /** Those of machine scope, which a served workbench keeps apart. */
  readonly machineSettings: Settings;
}

/** Sets what a user of this server has set, and forgets what extensions kept there. A workbench reads it as it starts. */
export async function writeUserSettings(server: CodeServer, choices: UserChoices): Promise<void> {
  const directory = join(server.userData, "User");
  const kept = ["globalStorage", "workspaceStorage", "History", "snippets", "keybindings.json"];
  await Promise.all(kept.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  await write(join(directory, "settings.json"), { ...quiet, ...choices.settings });
  await write(join(server.userData, "Machine", "settings.json"), choices.machineSettings);
}

async function write(file: string, settings: Settings): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(settings, undefined, 2));
}
