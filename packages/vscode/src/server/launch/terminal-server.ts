import { pause } from "@gennai/client/connection/back-off";
import * as vscode from "vscode";
import type { LaunchCommand } from "./launch-command.ts";
import { type LaunchOutcome, launchTimeoutMs, pauseBetweenLooks } from "./launch-outcome.ts";

/**
 * Starts the user's own server in the integrated terminal, as a task: VS Code quotes its arguments for the user's shell, and the
 * terminal stays open after the server has ended.
 * @param isRunning called repeatedly until it resolves with true
 */
export async function startInTerminal(
  command: LaunchCommand,
  folder: vscode.WorkspaceFolder,
  isRunning: () => Promise<boolean>,
  options: { readonly signal: AbortSignal },
): Promise<LaunchOutcome> {
  const task = new vscode.Task(
    { type: "gennai", task: "server" },
    folder,
    "Gennai Server",
    "Gennai",
    execution(command, folder),
  );
  task.presentationOptions = {
    reveal: vscode.TaskRevealKind.Silent,
    panel: vscode.TaskPanelKind.Dedicated,
    focus: false,
  };
  task.isBackground = true;
  const ended = Promise.withResolvers<LaunchOutcome>();
  let started: vscode.TaskExecution | undefined;
  const subscription = vscode.tasks.onDidEndTaskProcess(({ execution: finished, exitCode }) => {
    if (finished === started) ended.resolve({ type: "ended", exitCode });
  });
  try {
    started = await vscode.tasks.executeTask(task);
    const deadline = Date.now() + launchTimeoutMs;
    while (Date.now() < deadline) {
      const end = await Promise.race([ended.promise, pause(pauseBetweenLooks, options)]);
      if (end !== undefined) return end;
      if (await isRunning()) return { type: "running" };
    }
    return { type: "silent" };
  } finally {
    subscription.dispose();
  }
}

function execution(
  { program, args, isPath }: LaunchCommand,
  folder: vscode.WorkspaceFolder,
): vscode.ProcessExecution | vscode.ShellExecution {
  const cwd = folder.uri.fsPath;
  if (isPath) return new vscode.ProcessExecution(program, [...args], { cwd });
  const quoted = args.map((value) => ({ value, quoting: vscode.ShellQuoting.Strong }));
  return new vscode.ShellExecution({ value: program, quoting: vscode.ShellQuoting.Strong }, quoted, { cwd });
}
