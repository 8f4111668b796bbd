import { listSessions, sessionLine } from "@gennai/client/session/session-list";
import { type Console, commandName } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { listed, type Said } from "../command-host.ts";
import { type WorkspaceServerFlags, workspaceServer } from "../options/workspace-server.ts";
import { sessionsElsewhere } from "./sessions-elsewhere.ts";

export interface SessionListFlags extends WorkspaceServerFlags {
  readonly all?: boolean;
}

/** `gennai sessions`: the sessions of a workspace, newest first. */
export async function sessionsCommand(flags: SessionListFlags, console: Console): Promise<Said> {
  await using server = await workspaceServer(flags, console);
  const { workspace, place, signal } = server;
  const where = flags.all === true ? "" : place;
  const found = await listSessions(server.client, where, { signal });
  const start = `No sessions yet. Start one: ${commandName(console.environment)} run`;
  const others = found.length > 0 ? [] : await sessionsElsewhere(workspace, "sessions", console);
  return listed(found, (each) => terminalSafe(sessionLine(each, where)), [start, ...others].join("\n"));
}

/** `gennai sessions rename <id> <title>` */
export async function sessionsRenameCommand(
  sessionId: string,
  title: string,
  flags: WorkspaceServerFlags,
  console: Console,
): Promise<Said> {
  await using server = await workspaceServer(flags, console);
  const renamed = await server.client.renameSession({ sessionId, title });
  return { text: `${sessionId}  ${terminalSafe(renamed.title)}\n` };
}

/** `gennai sessions fork <id>`: prints the id of the new session. */
export async function sessionsForkCommand(sessionId: string, flags: WorkspaceServerFlags, console: Console) {
  await using server = await workspaceServer(flags, console);
  const fork = await server.client.forkSession({ sessionId });
  return { text: `${fork.sessionId}\n` };
}
