import type { ReplLaunch } from "@gennai/client/host/repl-host";
import { errorMessage } from "@gennai/protocol/error-message";
import { showProblem } from "../server/server-dialogs.ts";
import { NoServerError, type ServerProblem } from "../server/server-problem.ts";
import { folderCount } from "../session/chosen-folder.ts";
import { replSettings } from "../settings/settings.ts";
import type { Workbench } from "../workbench.ts";
import type { ReplContainer } from "./repl-views.ts";

export interface ReplLaunchOptions {
  readonly workbench: Workbench;
  /** Id of this window. */
  readonly clientId: string;
  readonly state: unknown;
  /** Called before the REPL begins: what it has to be told besides. */
  readonly onBegin: (isConnected: boolean) => void;
  /** Called when a server was found after the REPL had begun. */
  readonly onLate: () => void;
  /** What `looksForServer` gives: it may begin before the REPL's page is loaded. */
  readonly connected: Promise<boolean>;
}

/** Milliseconds: the app shows itself at once; where no server runs, the user is asked meanwhile. */
const timeoutMs = 2000;

const failedStarts: ReadonlySet<ServerProblem["type"]> = new Set(["launch-failed", "launch-ended", "no-node"]);

/** Whether there is a server for a REPL, or one that could be started. Never rejects: what is wrong is shown. */
export async function looksForServer(
  workbench: Workbench,
  details: () => Readonly<Record<string, string>>,
): Promise<boolean> {
  try {
    await workbench.connect();
    return true;
  } catch (error) {
    workbench.log.warn("No server yet.", errorMessage(error));
    // The user's own request is reported here; that no server runs is shown in the REPL.
    if (error instanceof NoServerError && failedStarts.has(error.problem.type))
      void showProblem(error.problem, details());
    return false;
  }
}

/** What a REPL begins with. Never rejects: that no server runs is shown in the REPL. */
export async function launchRepl(place: ReplContainer, options: ReplLaunchOptions): Promise<ReplLaunch> {
  const { workbench, clientId, connected } = options;
  const { version, root, sessions } = workbench;
  const soon = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), timeoutMs));
  const isConnected = await Promise.race([connected, soon]);
  if (isConnected) await sessions.resume();
  else void connected.then((later) => later && options.onLate());
  options.onBegin(isConnected);
  return {
    clientId: `${clientId}-${place}`,
    clientName: `gennai-vscode ${version}`,
    version,
    workspace: root === "" ? undefined : root,
    sessionId: sessions.session?.sessionId ?? (isConnected ? undefined : sessions.remembered),
    state: options.state,
    settings: replSettings(workbench.settings()),
    folders: folderCount(),
    reviews: workbench.reviews.toJson(),
  };
}
