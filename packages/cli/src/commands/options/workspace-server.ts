import { heldPlace } from "@gennai/client/connection/client-workspace-port";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { heldWorkspaceId } from "@gennai/shell/client-workspace-id";
import { holdsFiles } from "../../connection/holds-files.ts";
import { type ChosenServer, chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import type { Console } from "../../terminal/console.ts";
import { resolveWorkspace } from "./resolve-workspace.ts";

/** The server for a command about a workspace that starts no turn. */
export interface WorkspaceServer extends ChosenServer {
  /** Real absolute path. */
  readonly workspace: string;
  /** How the server lists the workspace's sessions. */
  readonly place: string;
  /** Never aborts: such a command ends by itself. */
  readonly signal: AbortSignal;
}

/** Rejects with `CliError`. */
export async function workspaceServer(
  flags: ServerFlags & { readonly workspace?: string },
  console: Console,
): Promise<WorkspaceServer> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const { signal } = new AbortController();
  const server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  const place = holdsFiles(flags) ? heldPlace({ id: await heldWorkspaceId(stateDir, workspace) }) : workspace;
  return { ...server, workspace, place, signal };
}
