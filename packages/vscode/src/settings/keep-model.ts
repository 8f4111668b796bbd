import type { ChosenModel } from "@gennai/client/host/repl-host";
import * as vscode from "vscode";

let keeping: Promise<unknown> = Promise.resolve();

/** Resolves when no choice is half written: settings read in between would name a model that nobody chose. */
export async function modelKept(): Promise<void> {
  await keeping;
}

/** Makes a model that of sessions to come: in the user's settings, or in the workspace's where these say otherwise. */
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
  // The address first: a model never goes to another one's server, not for a moment.
  if (baseUrl !== "") await write("defaultModelUrl", baseUrl);
  await write("defaultModel", model);
  await write("defaultBackend", backend);
}
