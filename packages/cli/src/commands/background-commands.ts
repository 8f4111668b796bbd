import {
  type BackgroundRun,
  backgroundOutput,
  listBackgroundRuns,
  openBackgroundPort,
  stopBackgroundRun,
} from "@gennai/client/background-runs";
import { type ChosenServer, type ServerFlags } from "../connection/server-choice.ts";
import { listSessions } from "../connection/session-list.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { workspaceServer } from "./options/workspace-server.ts";

export interface BackgroundFlags extends ServerFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly json?: boolean;
}

export interface BackgroundLogsFlags extends BackgroundFlags {
  readonly follow?: boolean;
}

export interface BackgroundOpenFlags extends BackgroundFlags {
  readonly port?: string;
}

/** How many of the newest sessions are searched. */
const maxSessions = 20;

/** `gennai background list` */
export async function backgroundListCommand(flags: BackgroundFlags, console: Console): Promise<ExitCode> {
  await using place = await resolvePlace(flags, console);
  let count = 0;
  for (const sessionId of place.sessionIds) {
    for (const run of await listBackgroundRuns(place.server.client, sessionId)) {
      count += 1;
      const line = `${run.id}  ${stateOf(run)}  ${terminalSafe(run.command)}  (session ${sessionId})`;
      console.output.write(flags.json === true ? `${JSON.stringify({ sessionId, ...run })}\n` : `${line}\n`);
    }
  }
  if (count === 0 && flags.json !== true) console.output.write("Nothing runs in the background.\n");
  return exitCode.ok;
}

/** `gennai background logs <id>`. Ends when the run does, or by Ctrl+C, which leaves the run alone. */
export async function backgroundLogsCommand(
  id: string,
  flags: BackgroundLogsFlags,
  console: Console,
): Promise<ExitCode> {
  await using place = await resolvePlace(flags, console);
  const meant = { sessionId: await sessionOf(place, id), runId: id };
  const { signal } = new AbortController();
  const output = backgroundOutput(place.server.client, meant, { follow: flags.follow === true, signal });
  let isLineEnd = true;
  for (;;) {
    const next = await output.next();
    if (next.done === true) {
      console.errors.write(`${isLineEnd ? "" : "\n"}${id} ${terminalSafe(stateOf(next.value))}\n`);
      return exitCode.ok;
    }
    console.output.write(terminalSafe(next.value));
    isLineEnd = next.value.endsWith("\n");
  }
}

/** `gennai background stop <id>` */
export async function backgroundStopCommand(id: string, flags: BackgroundFlags, console: Console): Promise<ExitCode> {
  await using place = await resolvePlace(flags, console);
  const run = await stopBackgroundRun(place.server.client, { sessionId: await sessionOf(place, id), runId: id });
  console.output.write(`${id} ${terminalSafe(stateOf(run))}\n`);
  return exitCode.ok;
}

/** `gennai background open <id> <port>` */
export async function backgroundOpenCommand(
  id: string,
  port: string,
  flags: BackgroundOpenFlags,
  console: Console,
): Promise<ExitCode> {
  const ports = { port: portOf(port), localPort: flags.port === undefined ? 0 : portOf(flags.port) };
  await using place = await resolvePlace(flags, console);
  const { client, isOwn } = place.server;
  const meant = { sessionId: await sessionOf(place, id), runId: id };
  if (isOwn) throw usageError("No server runs for this workspace.", "Start one: gennai serve");
  const local = await openBackgroundPort(client, meant, ports);
  console.output.write(`http://127.0.0.1:${local} leads to port ${ports.port} of ${id}, until it ends.\n`);
  return exitCode.ok;
}

interface Place extends AsyncDisposable {
  readonly server: ChosenServer;
  readonly sessionIds: readonly string[];
}

async function resolvePlace(flags: BackgroundFlags, console: Console): Promise<Place> {
  const server = await workspaceServer(flags, console);
  const known =
    flags.session === undefined ? await listSessions(server.client, server.place, { signal: server.signal }) : [];
  const sessionIds = flags.session === undefined ? known.map(({ sessionId }) => sessionId) : [flags.session];
  return {
    server,
    sessionIds: sessionIds.slice(0, maxSessions),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The newest session that has such a run; one that runs goes before those that have ended. */
async function sessionOf({ server, sessionIds }: Place, id: string): Promise<string> {
  let ended: string | undefined;
  for (const sessionId of sessionIds) {
    const run = (await listBackgroundRuns(server.client, sessionId)).find((each) => each.id === id);
    if (run?.isRunning === true) return sessionId;
    if (run !== undefined) ended ??= sessionId;
  }
  if (ended !== undefined) return ended;
  throw usageError(`Nothing in the background has the id ${id}.`, "gennai background list shows what there is.");
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw usageError(`${text} is not a port.`, "Write a number from 1 to 65535.");
}

function stateOf({ isRunning, end, ports }: BackgroundRun): string {
  if (!isRunning) return end.startsWith("stopped") ? end : `ended: ${end}`;
  const open = ports.map(({ port, localPort }) => `, port ${port} is open as 127.0.0.1:${localPort}`);
  return `runs${open.join("")}`;
}
