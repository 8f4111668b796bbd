import type { ListSessionsResponse } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";

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
}

/** Newest first, as the server sends them. */
export function summariesFromMessage(message: ListSessionsResponse): readonly SessionSummary[] {
  return message.sessions.map((session) => ({
    sessionId: session.sessionId,
    workingDir: session.workingDir,
    title: session.title,
    created: rfc3339(session.created),
    updated: rfc3339(session.updated),
    runningTurnId: session.runningTurnId,
    guardedAgent: session.guardedAgent,
  }));
}

function rfc3339(time: { readonly seconds: bigint; readonly nanos: number } | undefined): string {
  return new Date(Number(time?.seconds ?? 0n) * 1000 + (time?.nanos ?? 0) / 1e6).toISOString();
}
