import * as vscode from "vscode";
import { showWarning } from "../editor/notifications.ts";
import { type MigrationPorts, migrateSettings, type SettingsTarget } from "./migrate-settings.ts";
import { readSettings } from "./settings.ts";

const configurationTargets: Record<SettingsTarget, vscode.ConfigurationTarget> = {
  user: vscode.ConfigurationTarget.Global,
  workspace: vscode.ConfigurationTarget.Workspace,
  folder: vscode.ConfigurationTarget.WorkspaceFolder,
};

/** Migrates the settings of this window. */
export async function migrateVsCodeSettings(
  context: vscode.ExtensionContext,
  tokens: { set(baseUrl: string, token: string): Promise<void> },
  folder: vscode.WorkspaceFolder | undefined,
): Promise<void> {
  const at = (key: string) => {
    const dot = key.lastIndexOf(".");
    const configuration = vscode.workspace.getConfiguration(key.slice(0, dot), folder?.uri);
    return { configuration, name: key.slice(dot + 1) };
  };
  const ports: MigrationPorts = {
    read(key, target) {
      const { configuration, name } = at(key);
      const found = configuration.inspect<unknown>(name);
      if (target === "user") return found?.globalValue;
      return target === "workspace" ? found?.workspaceValue : found?.workspaceFolderValue;
    },
    async write(key, value, target) {
      const { configuration, name } = at(key);
      await configuration.update(name, value, configurationTargets[target]);
    },
    storeToken: async (token) => {
      const { baseUrl, serverPort } = readSettings();
      const url = URL.canParse(baseUrl) ? baseUrl : `http://127.0.0.1:${serverPort}`;
      await tokens.set(url, token);
    },
    wasMigrated: (key) => context.globalState.get(`gennai.migrated.${key}`) === true,
    warn: (message) => void showWarning(message),
  };
  await migrateSettings(ports);
}
