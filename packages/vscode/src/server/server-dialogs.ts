import * as vscode from "vscode";
import { reasonOf } from "../editor/editor-error.ts";
import { showError } from "../editor/notifications.ts";
import { describeProblem, type ProblemStep, problemDetails, type ServerProblem } from "./server-problem.ts";

const stepLabels: Record<ProblemStep, string> = {
  "start-server": "Start Server",
  "enter-token": "Enter Token",
  "open-settings": "Open Settings",
  "manage-trust": "Manage Trust",
  "open-folder": "Open Folder",
  "install-node": "Get Node",
  "choose-node": "Choose Node",
  "show-log": "Show Log",
};

const stepCommands: Record<ProblemStep, readonly [command: string, ...args: unknown[]]> = {
  "start-server": ["gennai.startServer"],
  "enter-token": ["gennai.setToken"],
  "open-settings": ["gennai.openSettings"],
  "manage-trust": ["workbench.trust.manage"],
  "open-folder": ["workbench.action.files.openFolder"],
  "install-node": ["vscode.open", vscode.Uri.parse("https://nodejs.org/en/download")],
  "choose-node": ["workbench.action.openSettings", "gennai.nodePath"],
  "show-log": ["gennai.showLog"],
};

/** Shows a problem, with buttons for what to do. Resolves when the user has chosen or closed it. */
export async function showProblem(problem: ServerProblem, facts: Readonly<Record<string, string>>): Promise<void> {
  const { message, steps } = describeProblem(problem);
  const choice = await showError(message, ...steps.map((step) => stepLabels[step]), copyDetails);
  if (choice === copyDetails) await vscode.env.clipboard.writeText(problemDetails(problem, facts));
  const step = steps.find((candidate) => stepLabels[candidate] === choice);
  if (step === undefined) return;
  const [command, ...args] = stepCommands[step];
  await vscode.commands.executeCommand(command, ...args);
}

/** Shows that a command failed; its details can be copied. */
export async function showFailure(
  title: string,
  error: unknown,
  facts: Readonly<Record<string, string>>,
): Promise<void> {
  const message = reasonOf(error);
  const choice = await showError(`${title}: ${message}`, stepLabels["show-log"], copyDetails);
  if (choice === stepLabels["show-log"]) await vscode.commands.executeCommand("gennai.showLog");
  if (choice !== copyDetails) return;
  const lines = [`${title}: ${message}`, "", ...Object.entries(facts).map(([name, value]) => `${name}: ${value}`)];
  if (error instanceof Error && error.stack !== undefined) lines.push("", error.stack);
  await vscode.env.clipboard.writeText(lines.join("\n"));
}

/** The token that the user typed; undefined: none. It is never shown. */
export async function askForToken(url: string): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title: `Token of ${url}`,
    prompt:
      "The server said where its token is when it started. Kept in the secret storage of this machine, never in settings.",
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/\s/.test(text.trim()) ? "A token has no spaces in it." : undefined),
  });
  const token = typed?.trim();
  return token === "" ? undefined : token;
}

const copyDetails = "Copy Details";
