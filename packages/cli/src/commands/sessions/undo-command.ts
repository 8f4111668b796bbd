import { Code, ConnectError } from "@connectrpc/connect";
import { heldPlace } from "@gennai/client/connection/client-workspace-port";
import type { AgentClient } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { goesBackByForce, listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { listSessions } from "@gennai/client/session/session-list";
import { git } from "@gennai/git/run/run-git";
import { sha256Hex } from "@gennai/protocol/digest";
import type { ErrorCode } from "@gennai/protocol/errors/error-code";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Checkpoint, SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { openDiskWorkspace } from "@gennai/shell/open-disk-workspace";
import { holdsFiles } from "../../connection/holds-files.ts";
import { chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { asTyped, type Console, commandName } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import { type Said, said } from "../command-host.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";
import { sessionsElsewhere } from "./sessions-elsewhere.ts";
import {
  describeCheckpoints,
  describeLeft,
  describeNames,
  describeRestored,
  describeStaying,
  describeUndone,
} from "./undo-text.ts";

export interface UndoFlags extends ServerFlags, WorkspaceFlags {
  readonly session?: string;
  /** Id of a guarded agent. */
  readonly agent?: string;
  readonly json?: boolean;
  /** Go back to before this turn; the first is 1. */
  readonly turn?: string;
  /** Go back to before this checkpoint. */
  readonly to?: string;
  readonly list?: boolean;
  readonly dryRun?: boolean;
  readonly rest?: boolean;
  readonly force?: boolean;
  /** Take back what was last kept without a session. */
  readonly kept?: boolean;
}

/** How many of the newest sessions are searched for changes. */
const maxSessions = 50;

/**
 * `gennai undo`: takes back the newest change set of a session, by default of the newest one of the workspace that has any; with
 * a turn or a checkpoint, all that was done since, or only the named files.
 */
export async function undoCommand(paths: readonly string[], flags: UndoFlags, console: Console): Promise<Said> {
  const { workspaceRoot: workspace, stateDir } = await placeHere(flags, console);
  const { signal } = new AbortController();
  if (flags.kept === true) return undoKept({ workspaceRoot: workspace, stateDir }, console);
  await using server = await chooseServer(serverRequest(flags, { workspace, stateDir, signal }), console);
  const held = holdsFiles(flags)
    ? await openDiskWorkspace({ root: workspace, stateDir, environment: console.environment })
    : undefined;
  const place = held === undefined ? workspace : heldPlace(held.facts);
  const all = flags.session === undefined ? await listSessions(server.client, place, { signal }) : [];
  const known = flags.agent === undefined ? all : all.filter(({ guardedAgent }) => guardedAgent === flags.agent);
  const sessionIds = flags.session === undefined ? known.map(({ sessionId }) => sessionId) : [flags.session];
  const toCheckpoint = flags.turn !== undefined || flags.to !== undefined;
  if (!toCheckpoint && (paths.length > 0 || flags.dryRun === true || flags.force === true)) {
    throw usageError("Say how far back: --turn or --to.", "gennai undo --list shows what there is.");
  }
  if (toCheckpoint || flags.list === true) {
    const listed = { client: server.client, sessionIds: sessionIds.slice(0, maxSessions), workspace };
    return await undoToCheckpoint(listed, paths, flags, console);
  }
  const identity = {
    clientId: crypto.randomUUID(),
    name: "gennai-cli",
    version,
    ...(held === undefined ? {} : { editor: { workspace: held } }),
  };
  const searched = sessionIds.slice(0, maxSessions);
  for (const [at, sessionId] of searched.entries()) {
    const session = await AgentSession.resume(server.client, identity, sessionId, { signal });
    const undo = async () => {
      const { changeSetId, skipped } = await session.undo({ signal, dryRun: true });
      if (flags.json !== true) console.errors.write(describeStaying(skipped));
      return session.undo({ signal, changeSetId, rest: flags.rest === true });
    };
    const attempt = held === undefined ? undo() : session.whileAttached(undo, { signal });
    const undone = await attempt.catch((error: unknown) => {
      const reason = whyNot(error, flags);
      if (reason !== undefined)
        throw mustStay(sessionId, reason, { older: searched[at + 1], rest: flags.rest === true });
    });
    if (undone === undefined) continue;
    const text = async () => describeUndone(undone) + (await describeCommit(workspace, undone.files));
    return said({ sessionId, ...undone }, text);
  }
  if (sessionIds.length === 0 && flags.agent !== undefined) {
    throw usageError(
      `This server judged no call of ${flags.agent} in ${workspace}.`,
      "gennai sessions list shows the sessions; --session takes the id of one.",
    );
  }
  if (sessionIds.length === 0) {
    throw usageError(
      `There is no session in ${workspace}, so there is nothing to undo.`,
      "Name the right directory with --workspace.",
      ...(await sessionsElsewhere(workspace, "undo", console)),
    );
  }
  throw usageError(
    flags.session === undefined
      ? `No session in ${workspace} has changes to undo.`
      : `Session ${flags.session} has no changes to undo.`,
    "gennai undo --list shows what commands changed, and how to undo that.",
  );
}

/** `gennai undo --kept`: what `gennai try` kept last. No server is asked. */
async function undoKept(
  place: { readonly workspaceRoot: string; readonly stateDir: string },
  console: Console,
): Promise<Said> {
  const { takeBackKept } = await import("@gennai/sessions/policy-workbench/take-back-kept");
  const back = await takeBackKept({
    ...place,
    toolVersion: version,
    onWarning: (text) => void console.errors.write(`warning: ${terminalSafe(text)}\n`),
  });
  return said(back, `Undone: ${terminalSafe(back.title)}\n`);
}

async function undoToCheckpoint(
  place: { readonly client: AgentClient; readonly sessionIds: readonly string[]; readonly workspace: string },
  paths: readonly string[],
  flags: UndoFlags,
  console: Console,
): Promise<Said> {
  const { client, sessionIds, workspace } = place;
  const { signal } = new AbortController();
  const rows: unknown[] = [];
  let listed = "";
  for (const sessionId of sessionIds) {
    const list = await listCheckpoints(client, sessionId, { signal });
    if (list.checkpoints.length === 0 && flags.session === undefined) continue;
    if (flags.list === true) {
      const skipped = await wouldBeLeft(client, sessionId, list.checkpoints);
      const described = describeCheckpoints(list, commandName(console.environment));
      listed += `session ${sessionId}\n${described}${describeLeft(skipped)}`;
      rows.push({ sessionId, ...list, skipped });
      // If undo would leave files here as they are, the session before is listed as well.
      if (skipped.length === 0) break;
      continue;
    }
    const { checkpointId } = findCheckpoint(list.checkpoints, flags, sessionId);
    const dryRun = flags.dryRun === true;
    const request = { sessionId, checkpointId, paths, dryRun, force: flags.force === true };
    const restored = await restoreCheckpoint(client, request, { signal });
    const commit = async () => (dryRun ? "" : describeCommit(workspace, restored.files));
    const forcible = restored.skipped.filter(goesBackByForce);
    if (forcible.length > 0 && flags.json !== true) {
      const back = flags.to === undefined ? `--turn ${flags.turn ?? ""}` : `--to ${flags.to}`;
      const names = describeNames(forcible.map(({ path }) => path));
      const line = `gennai undo ${back} --session ${sessionId} --force ${names}`;
      console.errors.write(`To undo what was left, name it: ${asTyped(line, console.environment)}\n`);
    }
    const text = async () => describeRestored(restored, { dryRun }) + (await commit());
    return said({ sessionId, ...restored }, text);
  }
  if (rows.length > 0) return { rows, text: listed };
  throw usageError("No session here has changes to undo.", "gennai sessions lists what there is.");
}

/** Files that would stay as they are when going back as far as possible. */
async function wouldBeLeft(
  client: AgentClient,
  sessionId: string,
  checkpoints: readonly Checkpoint[],
): Promise<readonly SkippedFile[]> {
  const oldest = checkpoints.find(({ kept }) => kept);
  if (oldest === undefined) return [];
  const { signal } = new AbortController();
  const { checkpointId } = oldest;
  const restored = restoreCheckpoint(client, { sessionId, checkpointId, dryRun: true }, { signal });
  return (await restored.catch(unlessImpossible))?.skipped ?? [];
}

/** The list is useful even if nothing can be restored now, as with files that a client holds. */
function unlessImpossible(error: unknown): undefined {
  if (error instanceof ConnectError && error.code === Code.FailedPrecondition) return undefined;
  throw error;
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

/**
 * Why a session's newest change set must stay: the user's own work, or nothing, is in its place. undefined if there is none.
 * Throws everything else, and this too for a session that was named.
 */
function whyNot(error: unknown, flags: UndoFlags): string | undefined {
  if (!(error instanceof ConnectError)) throw error;
  if (error.code === Code.NotFound) return undefined;
  const info = error.findDetails(ErrorInfoSchema)[0];
  if (flags.session !== undefined || info === undefined || !overwriting.has(info.code)) throw error;
  return info.message;
}

const overwriting: ReadonlySet<string> = new Set<ErrorCode>(["changed_since", "content_gone"]);

/**
 * A user who types undo does not mean an older session's work: it is named in the message, and reverted only if the user names
 * it.
 */
function mustStay(
  sessionId: string,
  reason: string,
  { older, rest }: { readonly older: string | undefined; readonly rest: boolean },
): CliError {
  return new CliError(`Session ${sessionId}: ${reason}`, {
    next: [
      ...(rest ? [] : ["Undo the rest: gennai undo --rest"]),
      "Or undo your own changes of the same lines first.",
      `What else can be undone: gennai undo --list --session ${sessionId}`,
      ...(older === undefined ? [] : [`The session before it: gennai undo --session ${older}`]),
    ],
  });
}

/** A line about the commit that still holds what was taken back, with what takes it back there; "" without one. Never rejects. */
async function describeCommit(directory: string, files: readonly AppliedFile[]): Promise<string> {
  for (const { path, beforeSha256 } of files.slice(0, 20)) {
    const run = (...args: string[]) => git(args, { directory }).catch(() => ({ code: 1, stdout: "" }));
    const { code, stdout } = await run("cat-file", "blob", `HEAD:./${path}`);
    const isHeld = code === 0 ? sha256Hex(stdout) === beforeSha256 : beforeSha256 === undefined;
    const commit = isHeld ? (await run("log", "-1", "--format=%h (%s)", "--", path)).stdout.trim() : "";
    if (commit === "") continue;
    const names = describeNames(files.map((file) => file.path));
    const next = `git add --all ${names} && git commit --message "Undo ${commit.split(" ")[0]}"`;
    return `Commit ${terminalSafe(commit)} stays. To undo it too: ${next}\n`;
  }
  return "";
}
