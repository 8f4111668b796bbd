import type { ChosenModel } from "@gennai/client/host/window-requests";
import * as vscode from "vscode";

let keeping: Promise<unknown> = Promise.resolve();

/** Resolves when no choice is half written: settings read meanwhile would name a model that nobody chose. */
export async function modelKept(): Promise<void> {
  await keeping;
}

/** Makes a model the one of future sessions: in the user's settings, or in the workspace's if these set another one. */
export function keepModel(chosen: ChosenModel): Promise<void> {
  const written = writeSettings(chosen);
  keeping = written.catch(() => undefined);
  return written;
}

async function writeSettings({ backend, model, baseUrl }: ChosenModel): Promise<void> {
  const configuration = vscode.workspace.getConfiguration("gennai");
  const write = async (key: string, value: string): Promise<void> => {
    const inWorkspace = configuration.inspect(key)?.workspaceValue !== undefined;
    const { Workspace, Global } = vscode.ConfigurationTarget;
    await configuration.update(key, value === "" ? undefined : value, inWorkspace ? Workspace : Global);
  };
  // The address first, so that a model's name is never sent to another model's server.
  if (baseUrl !== "") await write("defaultModelUrl", baseUrl);
  await write("defaultModel", model);
  await write("defaultBackend", backend);
}
