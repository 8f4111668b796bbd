import type { AgentClient, CallOptions } from "@gennai/client/connection/connection";
import { type SessionSummary, summariesFromMessage } from "@gennai/client/session/session-summary";
import { terminalSafe } from "../terminal/terminal-safe.ts";

/** The sessions of a workspace, newest first. @param workspace empty: of every workspace */
export async function listSessions(
  client: AgentClient,
  workspace: string,
  options: CallOptions,
): Promise<readonly SessionSummary[]> {
  return summariesFromMessage(await client.listSessions({ workingDir: workspace }, options));
}

/** The sessions as text for a user, one line each; empty if there are none. */
export async function describeSessions(client: AgentClient, workspace: string, options: CallOptions): Promise<string> {
  const summaries = await listSessions(client, workspace, options);
  return summaries
    .map(({ sessionId, updated, title, workingDir }) => {
      const place = workspace === "" ? `  ${terminalSafe(workingDir)}` : "";
      return `${sessionId}  ${updated.slice(0, 16).replace("T", " ")}  ${terminalSafe(title)}${place}\n`;
    })
    .join("");
}
