import type { ReplLaunch } from "@gennai/client/home/repl-home";
import { showProblem } from "../server/server-dialogs.ts";
import { NoServerError, type ServerProblem } from "../server/server-problem.ts";
import { folderCount } from "../session/chosen-folder.ts";
import { replSettings } from "../settings/settings.ts";
import type { Workbench } from "../workbench.ts";
import type { ReplPlace } from "./repl-views.ts";

export interface ReplLaunchOptions {
  readonly workbench: Workbench;
  /** Of this window. */
  readonly clientId: string;
  readonly state: unknown;
  /** Called before the REPL begins: what it has to be told besides. */
  readonly onBegin: (isConnected: boolean) => void;
  /** Called when a server was found after the REPL had begun. */
  readonly onLate: () => void;
  readonly details: () => Readonly<Record<string, string>>;
}

/** Milliseconds: the app shows itself at once; where no server runs, the user is asked meanwhile. */
const patience = 2000;

const failedStarts: ReadonlySet<ServerProblem["type"]> = new Set(["launch-failed", "launch-ended", "no-node"]);

/** What a REPL begins with. Never rejects: that no server runs is shown in the REPL. */
export async function launchRepl(place: ReplPlace, options: ReplLaunchOptions): Promise<ReplLaunch> {
  const { workbench, clientId } = options;
  const { version, root, sessions } = workbench;
  const connected = workbench.connect().then(
    () => true,
    (error: unknown) => {
      workbench.log.warn("No server yet.", error instanceof Error ? error.message : String(error));
      // What the user asked for is told; that none runs stands in the REPL.
      if (error instanceof NoServerError && failedStarts.has(error.problem.type)) {
        void showProblem(error.problem, options.details());
      }
      return false;
    },
  );
  const soon = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), patience));
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
