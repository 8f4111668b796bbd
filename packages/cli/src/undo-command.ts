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

/** Sessions that are looked through for changes, newest first. */
const maxSessions = 50;

/** `gennai undo`: takes back the newest change set of a session, by default of the newest one of the workspace that has any. */
export async function undoCommand(flags: UndoFlags, console: Console): Promise<ExitCode> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const { signal } = new AbortController();
  const stateDir = defaultStateDir(console.environment);
  await using server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  const known = flags.session === undefined ? await listSessions(server.client, workspace, { signal }) : [];
  const sessionIds = flags.session === undefined ? known.map(({ sessionId }) => sessionId) : [flags.session];
  const identity = { clientId: crypto.randomUUID(), name: "gennai-cli", version };
  for (const sessionId of sessionIds.slice(0, maxSessions)) {
    const session = await AgentSession.resume(server.client, identity, sessionId, { signal });
    const undone = await session.undo({ signal }).catch(unlessNothing);
    if (undone === undefined) continue;
    console.output.write(
      flags.json === true ? `${JSON.stringify({ sessionId, ...undone })}\n` : describeUndone(undone),
    );
    return exitCode.ok;
  }
  if (sessionIds.length === 0) {
    throw usageError(
      `There is no session in ${workspace}, so nothing to take back.`,
      "Name the right directory with --workspace.",
    );
  }
  throw usageError(
    flags.session === undefined
      ? `No session in ${workspace} has changes to take back.`
      : `Session ${flags.session} has no changes to take back.`,
    "gennai sessions lists what there is.",
  );
}

/** Nothing to take back is an answer; everything else is a failure. */
function unlessNothing(error: unknown): undefined {
  if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
  throw error;
}

const verbs = { create: "brought back", update: "restored", delete: "removed" } as const;

export function describeUndone(undone: UndoneChangeSet): string {
  return undone.files.map(({ path, operation }) => `${verbs[operation]} ${terminalSafe(path)}\n`).join("");
}
