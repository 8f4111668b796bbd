import * as vscode from "vscode";
import { rulesText, type StatusFacts, statusText } from "./status-text.ts";

/** Shows `statusText` in the status bar. */
export function showStatus(item: vscode.StatusBarItem, facts: StatusFacts): void {
  const { text, label, tone, command, rows } = statusText(facts);
  item.text = text;
  item.command = command;
  item.accessibilityInformation = { label };
  item.backgroundColor = tone === "plain" ? undefined : new vscode.ThemeColor(`statusBarItem.${tone}Background`);
  const tooltip = new vscode.MarkdownString("", true);
  tooltip.isTrusted = { enabledCommands: tooltipCommands.map(([, command]) => command) };
  tooltip.appendMarkdown("**Gennai**\n\n");
  for (const [name, value] of rows) {
    tooltip.appendMarkdown(`${name}: `);
    // Text from servers and rules is added as plain text.
    tooltip.appendText(value.slice(0, 300));
    tooltip.appendMarkdown("\n\n");
  }
  tooltip.appendMarkdown(tooltipCommands.map(([title, command]) => `[${title}](command:${command})`).join(" · "));
  item.tooltip = tooltip;
}

/** Shows `rulesText` in the status bar, in an item of its own. */
export function showRules(item: vscode.StatusBarItem, facts: Pick<StatusFacts, "link" | "governance">): void {
  const shown = rulesText(facts);
  if (shown === undefined) {
    item.hide();
    return;
  }
  item.text = shown.text;
  item.accessibilityInformation = { label: shown.label };
  const tooltip = new vscode.MarkdownString("");
  for (const line of shown.details) {
    tooltip.appendText(line.slice(0, 300));
    tooltip.appendMarkdown("\n\n");
  }
  item.tooltip = tooltip;
  item.show();
}

const tooltipCommands: readonly (readonly [title: string, command: string])[] = [
  ["Open REPL", "gennai.openRepl"],
  ["Stop", "gennai.stopSession"],
  ["Ledger", "gennai.openTimeline"],
  ["Emergency: Stop All", "gennai.emergencyStopAll"],
  ["Log", "gennai.showLog"],
];
