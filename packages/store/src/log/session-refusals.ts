import { StoreError } from "../database/store-error.ts";
import { AppendConflict, type LogPlace } from "./session-log.ts";

/** Thrown by every log, wherever it keeps its sessions; so are the errors below. */
export function unknownSession(sessionId: string): StoreError {
  return new StoreError(
    "unknown_session",
    `There is no session ${sessionId}: list the sessions to find the one you mean.`,
  );
}

/** Thrown to callers that follow a session when it is forgotten. */
export function sessionDeleted(sessionId: string): StoreError {
  return new StoreError("session_deleted", `Session ${sessionId} was deleted.`);
}

export function sessionExists(sessionId: string): StoreError {
  return new StoreError("session_exists", `Session ${sessionId} exists already: resume it or choose another id.`);
}

/** @param found actual position of the session's log, which differs from the one that the writer expected */
export function appendConflict(sessionId: string, found: LogPlace, expected: LogPlace): AppendConflict {
  return new AppendConflict(
    found.epoch === expected.epoch && found.seq !== expected.seq
      ? `Session ${sessionId} is at seq ${found.seq}, not ${expected.seq}: another writer was faster. Read on and append again.`
      : `Session ${sessionId} was taken over (epoch ${found.epoch}, not ${expected.epoch}): stop writing to it.`,
  );
}
