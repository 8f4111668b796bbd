import {
  type BackgroundRun,
  backgroundOutput,
  listBackgroundRuns,
  openBackgroundPort,
  stopBackgroundRun,
} from "@gennai/client/background-runs";
import { listSessions } from "@gennai/client/session/session-list";
import type { ChosenServer } from "../connection/server-choice.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { listed, type Said } from "./command-host.ts";
import { type WorkspaceServerFlags, workspaceServer } from "./options/workspace-server.ts";

export interface BackgroundFlags extends WorkspaceServerFlags {
  readonly session?: string;
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
export async function backgroundListCommand(flags: BackgroundFlags, console: Console): Promise<Said> {
  await using place = await resolvePlace(flags, console);
  const rows: (BackgroundRun & { readonly sessionId: string })[] = [];
  for (const sessionId of place.sessionIds) {
    for (const run of await listBackgroundRuns(place.server.client, sessionId)) rows.push({ sessionId, ...run });
  }
  const line = (run: (typeof rows)[number]): string =>
    `${run.id}  ${stateOf(run)}  ${terminalSafe(run.command)}  (session ${run.sessionId})`;
  return listed(rows, line, "Nothing runs in the background.");
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
export async function backgroundStopCommand(id: string, flags: BackgroundFlags, console: Console): Promise<Said> {
  await using place = await resolvePlace(flags, console);
  const run = await stopBackgroundRun(place.server.client, { sessionId: await sessionOf(place, id), runId: id });
  return { text: `${id} ${terminalSafe(stateOf(run))}\n` };
}

/** `gennai background open <id> <port>` */
export async function backgroundOpenCommand(
  id: string,
  port: string,
  flags: BackgroundOpenFlags,
  console: Console,
): Promise<Said> {
  const ports = { port: portOf(port), localPort: flags.port === undefined ? 0 : portOf(flags.port) };
  await using place = await resolvePlace(flags, console);
  const { client, isOwn } = place.server;
  const meant = { sessionId: await sessionOf(place, id), runId: id };
  if (isOwn) throw usageError("No server runs for this workspace.", "Start one: gennai serve");
  const local = await openBackgroundPort(client, meant, ports);
  return { text: `http://127.0.0.1:${local} leads to port ${ports.port} of ${id}, until it ends.\n` };
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
