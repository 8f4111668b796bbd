import * as vscode from "vscode";
import type { LinkState } from "../server/server-link.ts";
import { thisMachine } from "../server/this-machine.ts";
import type { WorkspaceSession } from "../session/workspace-session.ts";
import type { GennaiSettings } from "../settings/settings.ts";

/** Facts about this window for a problem report. Contains no token. */
export function windowDetails(
  window: {
    readonly version: string;
    readonly settings: () => GennaiSettings;
    readonly sessions: Pick<WorkspaceSession, "session">;
  },
  link: LinkState,
): Readonly<Record<string, string>> {
  const { baseUrl, serverPort, autoLaunch } = window.settings();
  return {
    extension: window.version,
    editor: `${vscode.env.appName} ${vscode.version}`,
    remote: vscode.env.remoteName ?? "none",
    platform: thisMachine.description,
    settings: JSON.stringify({ baseUrl, serverPort, autoLaunch }),
    server: JSON.stringify(link),
    session: window.sessions.session?.sessionId ?? "none",
  };
}
