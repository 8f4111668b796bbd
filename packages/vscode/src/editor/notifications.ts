import * as vscode from "vscode";
import { plainText } from "./plain-message.ts";

/** A link to a command of ours, in a progress notification, which has no buttons. It comes first: what is long is cut at the end. */
interface NotificationLink {
  readonly label: string;
  readonly command: `gennai.${string}`;
}

/** Resolves with the chosen button; undefined: the notification was closed without one. The message is shown as plain text. */
export async function showInformation<Button extends string>(
  message: string,
  ...buttons: readonly Button[]
): Promise<Button | undefined> {
  return vscode.window.showInformationMessage(plainText(message), ...buttons);
}

/** Like {@link showInformation}, as a warning. */
export async function showWarning<Button extends string>(
  message: string,
  ...buttons: readonly Button[]
): Promise<Button | undefined> {
  return vscode.window.showWarningMessage(plainText(message), ...buttons);
}

/** Like {@link showInformation}, as an error. */
export async function showError<Button extends string>(
  message: string,
  ...buttons: readonly Button[]
): Promise<Button | undefined> {
  return vscode.window.showErrorMessage(plainText(message), ...buttons);
}

/** Asks in a modal dialog. @param detail shown unchanged, with its lines: VS Code makes no links in it */
export async function askModally<Button extends string>(
  message: string,
  detail: string,
  button: Button,
): Promise<Button | undefined> {
  return vscode.window.showWarningMessage(plainText(message), { modal: true, detail }, button);
}

/** Shows progress while the task runs. @param task gets a function that reports a message */
export async function showProgress<Result>(
  options: vscode.ProgressOptions,
  task: (
    report: (message: string, link?: NotificationLink) => void,
    cancel: vscode.CancellationToken,
  ) => PromiseLike<Result>,
): Promise<Result> {
  const title = options.title === undefined ? {} : { title: plainText(options.title) };
  return vscode.window.withProgress({ ...options, ...title }, (progress, cancel) =>
    task((message, link) => {
      const way = link === undefined ? "" : `[${link.label}](command:${link.command}) · `;
      progress.report({ message: `${way}${plainText(message)}` });
    }, cancel),
  );
}
