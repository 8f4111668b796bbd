import type { SessionFacts } from "@gennai/client/view/session-facts";
import type { EditingMode, ReportedSettings } from "@gennai/protocol/model/session/session-settings";
import * as vscode from "vscode";
import type { LinkState } from "../server/server-link.ts";
import { type GovernanceFacts, noGovernance } from "../session/governance-facts.ts";
import { rulesText, type StatusFacts, statusText } from "./status-text.ts";

export interface WindowStatusOptions {
  readonly item: vscode.StatusBarItem;
  /** Status bar item of damage control. */
  readonly rulesItem: vscode.StatusBarItem;
  readonly facts: () => SessionFacts;
  readonly isWatching: () => boolean;
}

/** What is known about this window's session, shown in the status bar after each change. */
export class WindowStatus {
  readonly #options: WindowStatusOptions;
  #link: LinkState = { type: "idle" };
  #governance: GovernanceFacts = noGovernance;
  #branch = "";
  #mode: EditingMode;
  #model = { backend: "", model: "" };

  constructor(options: WindowStatusOptions & { readonly mode: EditingMode }) {
    this.#options = options;
    this.#mode = options.mode;
  }

  get link(): LinkState {
    return this.#link;
  }

  set link(link: LinkState) {
    this.#link = link;
    this.show();
  }

  get governance(): GovernanceFacts {
    return this.#governance;
  }

  set governance(governance: GovernanceFacts) {
    this.#governance = governance;
    this.show();
  }

  /** Empty: unknown. */
  set branch(branch: string) {
    this.#branch = branch;
    this.show();
  }

  set settings({ backend, model, editingMode }: ReportedSettings) {
    this.#model = { backend: backend ?? "", model };
    this.#mode = editingMode;
    this.show();
  }

  show(): void {
    const { item, rulesItem, facts, isWatching } = this.#options;
    showRules(rulesItem, { link: this.#link, governance: this.#governance });
    showStatus(item, {
      link: this.#link,
      branch: this.#branch,
      mode: this.#mode,
      session: facts(),
      governance: this.#governance,
      ...this.#model,
      trusted: vscode.workspace.isTrusted,
      watching: isWatching(),
    });
  }
}

/** Shows `statusText` in the status bar. */
function showStatus(item: vscode.StatusBarItem, facts: StatusFacts): void {
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
function showRules(item: vscode.StatusBarItem, facts: Pick<StatusFacts, "link" | "governance">): void {
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
