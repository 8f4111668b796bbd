import { heldPlace } from "@gennai/client/connection/client-workspace-port";
import { heldWorkspaceId } from "@gennai/shell/client-workspace-id";
import { holdsFiles } from "../../connection/holds-files.ts";
import { type ChosenServer, chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import type { Console } from "../../terminal/console.ts";
import { placeHere, type WorkspaceFlags } from "./resolve-workspace.ts";

export interface WorkspaceServerFlags extends ServerFlags, WorkspaceFlags {}

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
export async function workspaceServer(flags: WorkspaceServerFlags, console: Console): Promise<WorkspaceServer> {
  const { workspaceRoot: workspace, stateDir } = await placeHere(flags, console);
  const { signal } = new AbortController();
  const server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  const place = holdsFiles(flags) ? heldPlace({ id: await heldWorkspaceId(stateDir, workspace) }) : workspace;
  return { ...server, workspace, place, signal };
}
