import type { ReplLaunch } from "@gennai/client/host/host-messages";
import { errorMessage } from "@gennai/protocol/error-message";
import type { Workbench } from "../commands/workbench.ts";
import { showProblem } from "../server/server-dialogs.ts";
import { NoServerError, type ServerProblem } from "../server/server-problem.ts";
import { folderCount } from "../session/chosen-folder.ts";
import { replSettings } from "../settings/settings.ts";
import type { ReplContainer } from "./repl-views.ts";

export interface ReplLaunchOptions {
  readonly workbench: Workbench;
  /** Id of this window. */
  readonly clientId: string;
  readonly state: unknown;
  /** Called just before the REPL begins: it may send more notices. */
  readonly onBegin: (isConnected: boolean) => void;
  /** Called if a server was found after the REPL had begun. */
  readonly onLate: () => void;
  /** The result of `looksForServer`, which may start before the REPL's page is loaded. */
  readonly connected: Promise<boolean>;
}

/** Milliseconds after which the app is shown anyway; if no server runs, the user is asked meanwhile. */
const timeoutMs = 2000;

const failedStarts: ReadonlySet<ServerProblem["type"]> = new Set(["launch-failed", "launch-ended", "no-node"]);

/** Finds a server for a REPL, or starts one. Never rejects: false if there is none, and the problem is shown. */
export async function looksForServer(
  workbench: Workbench,
  details: () => Readonly<Record<string, string>>,
): Promise<boolean> {
  try {
    await workbench.connect();
    return true;
  } catch (error) {
    workbench.log.warn("No server yet.", errorMessage(error));
    // Only a failed start, which the user asked for, is shown here; the REPL itself shows that no server runs.
    if (error instanceof NoServerError && failedStarts.has(error.problem.type))
      void showProblem(error.problem, details());
    return false;
  }
}

/** What a REPL begins with. Never rejects: the REPL shows that no server runs. */
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
