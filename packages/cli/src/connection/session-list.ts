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

/** A session as a line for a user. @param workspace whose sessions are listed; empty: every workspace's */
export function sessionLine({ sessionId, updated, title, workingDir }: SessionSummary, workspace: string): string {
  const place = workspace === "" ? `  ${terminalSafe(workingDir)}` : "";
  return `${sessionId}  ${updated.slice(0, 16).replace("T", " ")}  ${terminalSafe(title)}${place}`;
}
