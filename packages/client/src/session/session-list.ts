import type { SessionSummary as SessionMessage } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { plural } from "@gennai/protocol/plural";
import { pause } from "../connection/back-off.ts";
import type { AgentClient, CallOptions } from "../connection/connection.ts";

/** A session as lists show it. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly workingDir: string;
  readonly title: string;
  /** RFC 3339. */
  readonly created: string;
  readonly updated: string;
  /** Empty: nothing is running. */
  readonly runningTurnId: string;
  /** Id of another agent whose calls are judged in it; empty for none, and where the server does not know it any more. */
  readonly guardedAgent: string;
  /** Of its working tree; empty on a detached HEAD, and without a repository. */
  readonly branch: string;
  /** What a person is asked now, without secrets; empty: nothing. */
  readonly question: string;
  /** Files that a person has to look at: changed in the last turn and not taken back, or proposed and not decided about. */
  readonly unseenFiles: number;
}

/** Most sessions that a server lists. */
const longestList = 1000;

export interface ListOptions extends CallOptions {
  /** 1 to 1000; 100 without it. */
  readonly limit?: number;
}

/** The sessions of a folder, newest first. @param workingDir absolute; empty: of every folder. Rejects with `ConnectError`. */
export async function listSessions(
  client: AgentClient,
  workingDir: string,
  { limit = 0, signal }: ListOptions,
): Promise<readonly SessionSummary[]> {
  return (await client.listSessions({ workingDir, limit }, { signal })).sessions.map(summaryOf);
}

/**
 * The same for a person who chooses one: those that wait for an answer come first. With `elsewhere` also those of other folders that wait or
 * work, without the limit.
 */
export async function listForPerson(
  client: AgentClient,
  workingDir: string,
  { elsewhere, ...options }: ListOptions & { readonly elsewhere: boolean },
): Promise<readonly SessionSummary[]> {
  const { signal } = options;
  const [here, all] = await Promise.all([
    listSessions(client, workingDir, options),
    elsewhere ? listSessions(client, "", { limit: longestList, signal }) : [],
  ]);
  const known = new Set(here.map(({ sessionId }) => sessionId));
  const sessions = [...here, ...all.filter((each) => !known.has(each.sessionId) && stateOf(each) !== "idle")];
  return sessions.toSorted((one, other) => rank(one) - rank(other));
}

/** Milliseconds until a list is looked at again. */
const lookAgainMs = 3000;

/**
 * Looks at a list, and again as long as a session other than the shown one works or waits. Resolves when none does; rejects with the signal's
 * reason, or as the first look does: a later one that fails leaves the list as it was.
 */
export async function watchSessions(
  look: (signal: AbortSignal) => Promise<readonly SessionSummary[]>,
  { shown, isSeen, signal }: CallOptions & { readonly shown: string | undefined; readonly isSeen: () => boolean },
): Promise<void> {
  let sessions = await look(signal);
  while (sessions.some((each) => each.sessionId !== shown && stateOf(each) !== "idle")) {
    await pause(lookAgainMs, { signal });
    if (isSeen()) sessions = await look(signal).catch(() => sessions);
  }
}

/** Sessions that wait for an answer, besides the shown one. */
export function waitingBeside(sessions: readonly SessionSummary[], shown: string | undefined): number {
  return sessions.filter((each) => each.sessionId !== shown && stateOf(each) === "waiting").length;
}

export type SessionState = "waiting" | "working" | "idle";

/** `waiting`: for a person's answer. */
export function stateOf({ question, runningTurnId }: SessionSummary): SessionState {
  if (question !== "") return "waiting";
  return runningTurnId === "" ? "idle" : "working";
}

export function titleOf({ title }: SessionSummary): string {
  return title === "" ? "Untitled" : title;
}

/** e.g. `Waits for you: Run npm test · claude-code · shop on ai-agent/tests · 2 files to look at`. @param here left out */
export function sessionWords(session: SessionSummary, here: string): string {
  const { guardedAgent, workingDir, branch, question, unseenFiles } = session;
  const folder = workingDir === here ? "" : (workingDir.split(/[\\/]/).findLast((name) => name !== "") ?? "");
  const state = { waiting: `Waits for you: ${question}`, working: "Works", idle: "" }[stateOf(session)];
  const place = [folder, branch].filter((word) => word !== "").join(" on ");
  const unseen = unseenFiles === 0 ? "" : `${plural(unseenFiles, "file")} to look at`;
  return [state, guardedAgent, place, unseen].filter((word) => word !== "").join(" · ");
}

/** A session on a line. @param here the folder whose sessions are listed; empty: every folder */
export function sessionLine(session: SessionSummary, here: string): string {
  const { sessionId, updated, title, workingDir } = session;
  const place = here === "" ? `  ${workingDir}` : "";
  return `${sessionId}  ${minute(updated)}  ${title}${place}  ${sessionWords(session, here || workingDir)}`.trimEnd();
}

/** e.g. `2026-11-30 17:45`. @param time RFC 3339 */
export function minute(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

function rank(session: SessionSummary): number {
  return stateOf(session) === "waiting" ? 0 : 1;
}

function summaryOf(message: SessionMessage): SessionSummary {
  const { sessionId, workingDir, title, runningTurnId, guardedAgent, branch, question, unseenFiles } = message;
  return {
    sessionId,
    workingDir,
    title,
    created: rfc3339(message.created),
    updated: rfc3339(message.updated),
    runningTurnId,
    guardedAgent,
    branch,
    question,
    unseenFiles,
  };
}

function rfc3339(time: { readonly seconds: bigint; readonly nanos: number } | undefined): string {
  return new Date(Number(time?.seconds ?? 0n) * 1000 + (time?.nanos ?? 0) / 1e6).toISOString();
}
