import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CodeServer } from "./code-server.ts";

export type Settings = Readonly<Record<string, unknown>>;

/** A workbench without greetings, questions and anything that reaches out. */
const quiet: Settings = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": "off",
  // In a browser it would be on.
  "files.autoSave": "off",
  "files.hotExit": "off",
  "git.openRepositoryInParentFolders": "never",
  "json.schemaDownload.enable": false,
  "npm.fetchOnlinePackageInfo": false,
  "remote.autoForwardPorts": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "terminal.integrated.enablePersistentSessions": false,
  "typescript.disableAutomaticTypeAcquisition": true,
  "window.confirmBeforeClose": "never",
  "workbench.enableExperiments": false,
  "workbench.localHistory.enabled": false,
  "workbench.reduceMotion": "on",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** Of machine scope: extensions open no walkthrough. */
const quietMachine: Settings = { "workbench.welcomePage.walkthroughs.openOnInstall": false };

export interface UserChoices {
  readonly settings: Settings;
  /** Those of machine scope, which a served workbench keeps apart. */
  readonly machineSettings: Settings;
}

/** Sets what the user of this server has set. A workbench reads it as it starts. */
export async function writeUserSettings(server: CodeServer, choices: UserChoices): Promise<void> {
  await write(join(server.userData, "User", "settings.json"), { ...quiet, ...choices.settings });
  await write(join(server.userData, "Machine", "settings.json"), { ...quietMachine, ...choices.machineSettings });
}

async function write(file: string, settings: Settings): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(settings, undefined, 2));
}
