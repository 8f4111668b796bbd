import type { AgentClient } from "@gennai/client/connection";
import { heldPlace } from "@gennai/client/held-workspace";
import { type SessionSummary, summariesFromMessage } from "@gennai/client/session-summary";
import { defaultStateDir } from "@gennai/server/store/state-directory";
import { chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import { heldWorkspaceId } from "../../held-workspace/held-workspace-id.ts";
import { holdsFiles } from "../../held-workspace/hold-files.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface SessionsFlags extends ServerFlags {
  readonly workspace?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `gennai sessions`: the sessions of a workspace, newest first. */
export async function sessionsCommand(flags: SessionsFlags, console: Console): Promise<ExitCode> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const { signal } = new AbortController();
  const stateDir = defaultStateDir(console.environment);
  await using server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  const place = holdsFiles(flags) ? heldPlace({ id: await heldWorkspaceId(stateDir, workspace) }) : workspace;
  const where = flags.all === true ? "" : place;
  if (flags.json === true) {
    for (const summary of await listSessions(server.client, where, { signal })) {
      console.output.write(`${JSON.stringify(summary)}\n`);
    }
  } else console.output.write(await describeSessions(server.client, where, { signal }));
  return exitCode.ok;
}

/** @param workspace empty: of every workspace */
export async function listSessions(
  client: AgentClient,
  workspace: string,
  options: { readonly signal: AbortSignal },
): Promise<readonly SessionSummary[]> {
  return summariesFromMessage(await client.listSessions({ workingDir: workspace }, options));
}

export async function describeSessions(
  client: AgentClient,
  workspace: string,
  options: { readonly signal: AbortSignal },
): Promise<string> {
  const summaries = await listSessions(client, workspace, options);
  if (summaries.length === 0) return "No sessions yet. Start one: gennai run\n";
  return summaries
    .map(({ sessionId, updated, title, workingDir }) => {
      const place = workspace === "" ? `  ${terminalSafe(workingDir)}` : "";
      return `${sessionId}  ${updated.slice(0, 16).replace("T", " ")}  ${terminalSafe(title)}${place}\n`;
    })
    .join("");
}
