import type { SessionFacts } from "@gennai/client/view/session-facts";
import type { EditingMode, ReportedSettings } from "@gennai/protocol/model/session/session-settings";
import * as vscode from "vscode";
import type { LinkState } from "../server/server-link.ts";
import { type GovernanceFacts, noGovernance } from "../session/governance-facts.ts";
import { showRules, showStatus } from "./status-item.ts";

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
