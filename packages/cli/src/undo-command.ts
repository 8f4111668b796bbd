import { Code, ConnectError } from "@connectrpc/connect";
import { AgentSession, type UndoneChangeSet } from "@gennai/client/session";
import { defaultStateDir } from "@gennai/server/store/state-directory";
import type { Console } from "./console.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { usageError } from "./run-options.ts";
import { chooseServer, type ServerFlags, serverRequest } from "./server-choice.ts";
import { listSessions } from "./sessions-command.ts";
import { terminalSafe } from "./terminal-safe.ts";
import { version } from "./version.ts";
import { resolveWorkspace } from "./workspace-option.ts";

export interface UndoFlags extends ServerFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly json?: boolean;
}

/** `gennai undo`: takes back the newest change set of a session, by default the newest one of the workspace. */
export async function undoCommand(flags: UndoFlags, console: Console): Promise<ExitCode> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const { signal } = new AbortController();
  const stateDir = defaultStateDir(console.environment);
  await using server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  const sessionId = flags.session ?? (await listSessions(server.client, workspace, { signal }))[0]?.sessionId;
  if (sessionId === undefined) {
    throw usageError(
      `There is no session in ${workspace}, so nothing to take back.`,
      "Name the right directory with --workspace.",
    );
  }
  const identity = { clientId: crypto.randomUUID(), name: "gennai-cli", version };
  const session = await AgentSession.resume(server.client, identity, sessionId, { signal });
  const undone = await session.undo({ signal }).catch((error: unknown) => {
    if (!(error instanceof ConnectError) || error.code !== Code.NotFound) throw error;
    throw usageError(
      `Session ${sessionId} has no changes to take back.`,
      "Name an older session: gennai undo --session ID; gennai sessions lists them.",
    );
  });
  console.output.write(flags.json === true ? `${JSON.stringify({ sessionId, ...undone })}\n` : describeUndone(undone));
  return exitCode.ok;
}

const verbs = { create: "brought back", update: "restored", delete: "removed" } as const;

export function describeUndone(undone: UndoneChangeSet): string {
  return undone.files.map(({ path, operation }) => `${verbs[operation]} ${terminalSafe(path)}\n`).join("");
}
