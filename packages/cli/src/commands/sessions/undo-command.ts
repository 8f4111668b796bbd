import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentClient } from "@gennai/client/connection/connection";
import { heldPlace } from "@gennai/client/held-workspace/held-workspace";
import { AgentSession } from "@gennai/client/session/agent-session";
import { type Checkpoint, listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { defaultStateDir } from "@gennai/server/store/state-directory";
import { chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import { listSessions } from "../../connection/session-list.ts";
import { usageError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import { holdFiles, holdsFiles } from "../../held-workspace/hold-files.ts";
import type { Console } from "../../terminal/console.ts";
import { version } from "../../version.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { describeCheckpoints, describeRestored, describeUndone } from "./undo-text.ts";

export interface UndoFlags extends ServerFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly json?: boolean;
  /** Before this turn, from 1. */
  readonly turn?: string;
  /** Before this checkpoint. */
  readonly to?: string;
  readonly list?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** Sessions that are looked through for changes, newest first. */
const maxSessions = 50;

/**
 * `gennai undo`: takes back the newest change set of a session, by default of the newest one of the workspace that has any;
 * with a turn or a checkpoint, all that was done since, or the named files of it.
 */
export async function undoCommand(paths: readonly string[], flags: UndoFlags, console: Console): Promise<ExitCode> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const { signal } = new AbortController();
  const stateDir = defaultStateDir(console.environment);
  await using server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  await using held = holdsFiles(flags) ? await holdFiles(workspace, { stateDir, sandbox: "off", console }) : undefined;
  const place = held === undefined ? workspace : heldPlace(held.workspace.facts);
  const known = flags.session === undefined ? await listSessions(server.client, place, { signal }) : [];
  const sessionIds = flags.session === undefined ? known.map(({ sessionId }) => sessionId) : [flags.session];
  const toCheckpoint = flags.turn !== undefined || flags.to !== undefined;
  if (!toCheckpoint && (paths.length > 0 || flags.dryRun === true || flags.force === true)) {
    throw usageError("Say how far back: --turn or --to.", "gennai undo --list shows what there is.");
  }
  if (toCheckpoint || flags.list === true) {
    return await undoToCheckpoint(server.client, sessionIds.slice(0, maxSessions), paths, flags, console);
  }
  const identity = {
    ...{ clientId: crypto.randomUUID(), name: "gennai-cli", version },
    ...(held === undefined ? {} : { editor: { workspace: held.workspace } }),
  };
  for (const sessionId of sessionIds.slice(0, maxSessions)) {
    const session = await AgentSession.resume(server.client, identity, sessionId, { signal });
    const undo = () => session.undo({ signal });
    const undone = await (held === undefined ? undo() : session.whileAttached(undo, { signal })).catch(unlessNothing);
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

async function undoToCheckpoint(
  client: AgentClient,
  sessionIds: readonly string[],
  paths: readonly string[],
  flags: UndoFlags,
  console: Console,
): Promise<ExitCode> {
  const { signal } = new AbortController();
  for (const sessionId of sessionIds) {
    const list = await listCheckpoints(client, sessionId, { signal });
    if (list.checkpoints.length === 0 && flags.session === undefined) continue;
    if (flags.list === true) {
      const text = `session ${sessionId}\n${describeCheckpoints(list)}`;
      console.output.write(flags.json === true ? `${JSON.stringify({ sessionId, ...list })}\n` : text);
      return exitCode.ok;
    }
    const { checkpointId } = findCheckpoint(list.checkpoints, flags, sessionId);
    const dryRun = flags.dryRun === true;
    const request = { sessionId, checkpointId, paths, dryRun, force: flags.force === true };
    const restored = await restoreCheckpoint(client, request, { signal });
    console.output.write(
      flags.json === true ? `${JSON.stringify({ sessionId, ...restored })}\n` : describeRestored(restored, { dryRun }),
    );
    if (restored.skipped.length > 0 && flags.json !== true) {
      console.errors.write("To overwrite what was left, name its files and say --force.\n");
    }
    return exitCode.ok;
  }
  throw usageError("No session here has changes to take back.", "gennai sessions lists what there is.");
}

function findCheckpoint(checkpoints: readonly Checkpoint[], flags: UndoFlags, sessionId: string): Checkpoint {
  const found =
    flags.to === undefined
      ? checkpoints.find(({ kind, turnNumber }) => kind === "turn" && String(turnNumber) === flags.turn)
      : checkpoints.find(({ checkpointId }) => checkpointId === flags.to);
  if (found !== undefined) return found;
  const what = flags.to === undefined ? `changed nothing in turn ${flags.turn ?? ""}` : `has no checkpoint ${flags.to}`;
  throw usageError(`Session ${sessionId} ${what}.`, "gennai undo --list shows what there is.");
}

/** Nothing to take back is an answer; everything else is a failure. */
function unlessNothing(error: unknown): undefined {
  if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
  throw error;
}
