import type { ServerFlags } from "../../connection/server-choice.ts";
import { describeSessions, listSessions } from "../../connection/session-list.ts";
import { type Console, commandName } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { workspaceServer } from "../options/workspace-server.ts";
import { sessionsElsewhere } from "./sessions-elsewhere.ts";

/** Options of the commands about one session. */
export interface SessionFlags extends ServerFlags {
  readonly workspace?: string;
}

export interface SessionListFlags extends SessionFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `gennai sessions`: the sessions of a workspace, newest first. */
export async function sessionsCommand(flags: SessionListFlags, console: Console): Promise<ExitCode> {
  await using server = await workspaceServer(flags, console);
  const { workspace, place, signal } = server;
  const where = flags.all === true ? "" : place;
  if (flags.json === true) {
    for (const summary of await listSessions(server.client, where, { signal })) {
      console.output.write(`${JSON.stringify(summary)}\n`);
    }
    return exitCode.ok;
  }
  const found = await describeSessions(server.client, where, { signal });
  console.output.write(found || (await noSessions(workspace, console)));
  return exitCode.ok;
}

async function noSessions(workspace: string, console: Console): Promise<string> {
  const start = `No sessions yet. Start one: ${commandName(console.environment)} run`;
  return `${[start, ...(await sessionsElsewhere(workspace, "sessions", console))].join("\n")}\n`;
}

/** `gennai sessions rename <id> <title>` */
export async function sessionsRenameCommand(
  sessionId: string,
  title: string,
  flags: SessionFlags,
  console: Console,
): Promise<ExitCode> {
  await using server = await workspaceServer(flags, console);
  const renamed = await server.client.renameSession({ sessionId, title });
  console.output.write(`${sessionId}  ${terminalSafe(renamed.title)}\n`);
  return exitCode.ok;
}

/** `gennai sessions fork <id>`: prints the id of the new session. */
export async function sessionsForkCommand(sessionId: string, flags: SessionFlags, console: Console): Promise<ExitCode> {
  await using server = await workspaceServer(flags, console);
  const fork = await server.client.forkSession({ sessionId });
  console.output.write(`${fork.sessionId}\n`);
  return exitCode.ok;
}
