import * as vscode from "vscode";
import type { LinkState } from "../server/server-link.ts";
import { thisMachine } from "../server/this-machine.ts";
import type { Workbench } from "../workbench.ts";

/** Facts about this window for a problem report. Contains no token. */
export function windowDetails(workbench: Workbench, link: LinkState): Readonly<Record<string, string>> {
  const { baseUrl, serverPort, autoLaunch } = workbench.settings();
  return {
    extension: workbench.version,
    editor: `${vscode.env.appName} ${vscode.version}`,
    remote: vscode.env.remoteName ?? "none",
    platform: thisMachine.description,
    settings: JSON.stringify({ baseUrl, serverPort, autoLaunch }),
    server: JSON.stringify(link),
    session: workbench.sessions.session?.sessionId ?? "none",
  };
}
