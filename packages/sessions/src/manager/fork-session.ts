import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { ServiceError } from "@gennai/machine/service-error";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { SessionLog } from "@gennai/store/log/session-log";
import type { Session } from "../session/session.ts";

/** What a new session takes over from another session, or from a client. */
export interface SessionOrigin {
  readonly forkedFrom?: string;
  readonly inheritedFiles?: readonly FileChangeRecord[];
  readonly clientWorkspace?: ClientWorkspaceFacts;
}

/** Event types not copied: a fork has its own beginning, and cannot undo the source's file changes or use its plans. */
const notForked: ReadonlySet<SessionEvent["type"]> = new Set([
  "session-started",
  "change-set-applied",
  "checkpoint-taken",
  "checkpoint-closed",
  "checkpoint-restoring",
  "checkpoint-restored",
  "plan-changed",
  "usage",
]);

const pageSize = 500;

/**
 * Starts a session with the history of another one. Throws `ServiceError` if the source has no such event, or is deleted
 * meanwhile: then the caller must delete what was created.
 * @param throughSeq the last event to copy; 0: all
 * @param create makes the session, in the same place and with the same settings
 */
export async function forkSession(
  source: Session,
  throughSeq: number,
  create: (origin: SessionOrigin) => Promise<Session>,
): Promise<Session> {
  const { state, services } = source;
  if (throughSeq > state.lastSeq) {
    throw new ServiceError("invalid_argument", `The session's last event is ${state.lastSeq}.`);
  }
  const through = throughSeq === 0 ? state.lastSeq : throughSeq;
  const { clientWorkspace } = state;
  const fork = await create({
    forkedFrom: source.id,
    ...(clientWorkspace === undefined ? {} : { clientWorkspace }),
    inheritedFiles: await changedFiles(services.log, source.id, through),
  });
  for (let after = 0; after < through; ) {
    const page = await services.log.read(source.id, after, pageSize);
    if (page.length === 0) throw deletedMeanwhile();
    for (const { seq, turnId, itemId, event } of page) {
      if (seq <= through && !notForked.has(event.type)) fork.writer.emit(copyOf(event), { turnId, itemId });
    }
    await fork.writer.flush();
    after = page[page.length - 1]?.seq ?? through;
  }
  await fork.endCopiedTurn();
  await services.log.setTitle(fork.id, forkTitle((await services.log.head(source.id))?.title ?? fork.state.title));
  return fork;
}

/** An interrupted turn can be continued only in the source: otherwise its calls could run twice. */
function copyOf(event: SessionEvent): SessionEvent {
  if (event.type === "status" && event.state === "started") return { ...event, copied: true };
  if (event.type !== "error" || event.canContinue !== true) return event;
  const { canContinue: _, ...error } = event;
  return {
    ...error,
    hint: "Look at the workspace, then ask again: a fork does not continue an interrupted turn of its source.",
  };
}

function deletedMeanwhile(): ServiceError {
  return new ServiceError("not_found", "The session was deleted while it was forked; there is no fork of it.", {
    hint: "Start a session, or list them.",
  });
}

const forkOf = "Fork of ";
const longestTitle = 200;

/** Marks the title as a fork's in lists. */
function forkTitle(title: string): string {
  if (title === "") return "Fork of a session without a title";
  return title.startsWith(forkOf) ? title : `${forkOf}${title}`.slice(0, longestTitle);
}

/** The files as the source's changes left them; its own history alone does not contain this. */
async function changedFiles(log: SessionLog, sessionId: string, through: number): Promise<readonly FileChangeRecord[]> {
  const changed = new Map<string, FileChangeRecord>();
  for (let after = 0; after < through; ) {
    const page = await log.read(sessionId, after, pageSize);
    if (page.length === 0) throw deletedMeanwhile();
    for (const { seq, event } of page) {
      if (seq > through) break;
      if (event.type === "session-started") for (const file of event.inheritedFiles ?? []) changed.set(file.path, file);
      if (event.type === "change-set-applied") for (const file of event.files) changed.set(file.path, file);
      if (event.type === "change-set-undone") for (const file of event.files) changed.delete(file.path);
    }
    after = page[page.length - 1]?.seq ?? through;
  }
  return [...changed.values()];
}
