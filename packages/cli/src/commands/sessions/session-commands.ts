import { defaultStateDir } from "@gennai/server/store/state-directory";
import { chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface OneSessionFlags extends ServerFlags {
  readonly workspace?: string;
}

/** `gennai sessions rename <id> <title>` */
export async function sessionsRenameCommand(
  sessionId: string,
  title: string,
  flags: OneSessionFlags,
  console: Console,
): Promise<ExitCode> {
  await using server = await serverOf(flags, console);
  const renamed = await server.client.renameSession({ sessionId, title });
  console.output.write(`${sessionId}  ${terminalSafe(renamed.title)}\n`);
  return exitCode.ok;
}

/** `gennai sessions fork <id>`: prints the id of the new session. */
export async function sessionsForkCommand(
  sessionId: string,
  flags: OneSessionFlags,
  console: Console,
): Promise<ExitCode> {
  await using server = await serverOf(flags, console);
  const fork = await server.client.forkSession({ sessionId });
  console.output.write(`${fork.sessionId}\n`);
  return exitCode.ok;
}

async function serverOf(flags: OneSessionFlags, console: Console) {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const { signal } = new AbortController();
  return chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
}
