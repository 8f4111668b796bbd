import type { HostNotice } from "@gennai/client/host/host-messages";
import * as vscode from "vscode";
import { replPanelType } from "../documents/beside-repl.ts";
import { HostedRepl, type HostedReplOptions } from "./hosted-repl.ts";
import { noticeHtml, replHtml } from "./repl-html.ts";

/** What all REPLs of a window share. */
export interface ReplViewsOptions {
  readonly extensionUri: vscode.Uri;
  readonly isTrusted: () => boolean;
  readonly host: (place: ReplContainer) => Omit<HostedReplOptions, "webview">;
  /** Called when one is made, shown, hidden or closed: VS Code reports no change for one that is visible from the beginning. */
  readonly onVisible: () => void;
}

export type ReplContainer = "view" | "panel";

const viewId = "gennai.repl";

/** The REPLs of this window: one in the side bar, one in the editor, each with its own app. */
export class ReplViews implements vscode.Disposable {
  readonly #options: ReplViewsOptions;
  readonly #hosts = new Map<ReplContainer, HostedRepl>();
  #view: vscode.WebviewView | undefined;
  #questions = 0;
  #panel: vscode.WebviewPanel | undefined;
  /** Notices from before any REPL was open. */
  #waiting: HostNotice[] = [];

  constructor(options: ReplViewsOptions) {
    this.#options = options;
  }

  get isVisible(): boolean {
    return this.#view?.visible === true || this.#panel?.visible === true;
  }

  /** How many questions wait: their number is on the view's icon, and a click on it leads to them. */
  set waiting(count: number) {
    this.#questions = count;
    if (this.#view === undefined) return;
    const tooltip = count === 1 ? "1 question waits for you" : `${count} questions wait for you`;
    this.#view.badge = count === 0 ? undefined : { value: count, tooltip };
  }

  resolveView(view: vscode.WebviewView): void {
    this.#view = view;
    this.waiting = this.#questions;
    this.#fill("view", view.webview);
    view.onDidChangeVisibility(() => this.#options.onVisible());
    view.onDidDispose(() => {
      this.#view = undefined;
      this.#close("view");
      this.#options.onVisible();
    });
    this.#options.onVisible();
  }

  adoptPanel(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.#options.extensionUri, "media", "icon.svg");
    this.#fill("panel", panel.webview);
    panel.onDidChangeViewState(() => this.#options.onVisible());
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#close("panel");
      this.#options.onVisible();
    });
    this.#options.onVisible();
  }

  /** Shows a REPL: the visible one, else the one in the side bar. */
  async reveal(): Promise<void> {
    if (this.#panel?.visible === true) this.#panel.reveal();
    else await vscode.commands.executeCommand(`${viewId}.focus`);
  }

  openPanel(): void {
    if (this.#panel !== undefined) {
      this.#panel.reveal();
      return;
    }
    const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
    this.adoptPanel(vscode.window.createWebviewPanel(replPanelType, "Gennai", beside, this.#webviewOptions()));
  }

  /** Sends a notice to every open REPL. */
  notify(notice: HostNotice): void {
    for (const host of this.#hosts.values()) host.notify(notice);
  }

  /** Sends a notice to every REPL but the one it comes from. */
  notifyOthers(place: string | undefined, notice: HostNotice): void {
    for (const [at, host] of this.#hosts) if (at !== place) host.notify(notice);
  }

  /** Sends a notice to the REPL that the user looks at, else to the next one that opens. */
  ask(notice: HostNotice): void {
    const place: ReplContainer = this.#panel?.visible === true ? "panel" : "view";
    const host = this.#hosts.get(place) ?? this.#hosts.values().next().value;
    if (host === undefined) this.#waiting.push(notice);
    else host.notify(notice);
  }

  /** Loads the pages again, e.g. after the workspace was trusted. */
  reload(): void {
    if (this.#view !== undefined) this.#fill("view", this.#view.webview);
    if (this.#panel !== undefined) this.#fill("panel", this.#panel.webview);
  }

  dispose(): void {
    for (const place of [...this.#hosts.keys()]) this.#close(place);
    this.#panel?.dispose();
  }

  #fill(place: ReplContainer, webview: vscode.Webview): void {
    this.#close(place);
    webview.options = this.#webviewOptions();
    if (!this.#options.isTrusted()) {
      const text =
        "Gennai does nothing in a workspace that is not trusted: no server is started, and none is connected to.";
      webview.html = noticeHtml({ text, command: "workbench.trust.manage", label: "Manage Workspace Trust" });
      return;
    }
    const host = new HostedRepl({
      ...this.#options.host(place),
      webview: {
        post: (message) => void webview.postMessage(message),
        listen: (listener) => {
          const subscription = webview.onDidReceiveMessage(listener);
          return () => void subscription.dispose();
        },
      },
    });
    this.#hosts.set(place, host);
    const resource = (name: string) =>
      webview.asWebviewUri(vscode.Uri.joinPath(this.#options.extensionUri, "dist", "repl", name)).toString();
    webview.html = replHtml({
      cspSource: webview.cspSource,
      script: resource("repl.js"),
      style: resource("repl.css"),
      title: "Gennai",
    });
    for (const notice of this.#waiting.splice(0)) host.notify(notice);
  }

  #webviewOptions(): vscode.WebviewOptions {
    return this.#options.isTrusted()
      ? { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.#options.extensionUri, "dist", "repl")] }
      : { enableScripts: false, enableCommandUris: ["workbench.trust.manage"], localResourceRoots: [] };
  }

  #close(place: ReplContainer): void {
    this.#hosts.get(place)?.[Symbol.dispose]();
    this.#hosts.delete(place);
  }
}
