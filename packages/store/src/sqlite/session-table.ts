import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import type { StoreDatabase } from "../database/database.ts";
import { integerOf, type Row, textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import type { EventDraft, LogBatch, LogPlace, SessionFilter, SessionHead } from "../log/session-log.ts";

/** A batch as it goes into the tables. */
export interface BatchRows {
  readonly batch: LogBatch;
  readonly logged: readonly LoggedEvent[];
  /** The events' JSON. */
  readonly lines: readonly string[];
  /** Of all lines. */
  readonly characters: number;
  readonly updated: number;
}

/** Made before the transaction, which is thus shorter; content that cannot be serialised fails early. */
export function batchRows(batch: LogBatch, afterSeq: number): BatchRows {
  const lines = batch.events.map((draft) => JSON.stringify(draft.event));
  return {
    batch,
    logged: numberedEvents(batch.events, afterSeq),
    lines,
    characters: lines.reduce((sum, line) => sum + line.length, 0),
    updated: batch.events.at(-1)?.time ?? batch.ledger.at(-1)?.time ?? 0,
  };
}

/** Sessions and their events as rows. Anyone who changes something holds the transaction. */
export class SessionTable {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: StoreDatabase) {
    this.#statements = prepareStatements(database);
  }

  /** @param session.workspace its number in the ledger's table */
  insert(session: {
    readonly sessionId: string;
    readonly user: string;
    readonly workspace: number;
    readonly time: number;
  }): void {
    const { sessionId, user, workspace, time } = session;
    const { insertSession, removeUser, insertUser } = this.#statements;
    const { lastInsertRowid } = insertSession.run(sessionId, workspace, time, time);
    // A number is reused after a purge, which an older Gennai may have done.
    removeUser.run(lastInsertRowid);
    if (user !== "") insertUser.run(lastInsertRowid, user);
  }

  head(sessionId: string): SessionHead | undefined {
    const row = this.#statements.head.get(sessionId);
    return row && headOf(row);
  }

  list({ workspaceRoot, user, limit }: SessionFilter): readonly SessionHead[] {
    const { listAll, listOfWorkspace, listOfUser, listOfUserAndWorkspace } = this.#statements;
    if (user === undefined) {
      return (workspaceRoot === undefined ? listAll.all(limit) : listOfWorkspace.all(workspaceRoot, limit)).map(headOf);
    }
    const rows =
      workspaceRoot === undefined
        ? listOfUser.all(user, limit)
        : listOfUserAndWorkspace.all(user, workspaceRoot, limit);
    return rows.map(headOf);
  }

  /** False for an unknown session. */
  setTitle(sessionId: string, title: string): boolean {
    return this.#statements.setTitle.run(title, sessionId).changes > 0;
  }

  /** The next epoch; undefined for an unknown session. */
  takeOver(sessionId: string): number | undefined {
    const row = this.#statements.takeOver.get(sessionId);
    return row && integerOf(row, "epoch");
  }

  /** False when the session is not in the epoch before this one. */
  setEpoch(sessionId: string, epoch: number): boolean {
    return this.#statements.setEpoch.run(epoch, sessionId, epoch - 1).changes > 0;
  }

  /** The workspace's number; undefined, and nothing is written, when the session is not where it was expected. */
  append(sessionId: string, { batch, logged, lines, updated }: BatchRows, expected: LogPlace): number | undefined {
    const { advance, insertEvent, spendToken } = this.#statements;
    const row = advance.get(expected.seq + logged.length, updated, sessionId, expected.seq, expected.epoch);
    if (row === undefined) return undefined;
    const session = integerOf(row, "number");
    for (const [index, event] of logged.entries()) {
      insertEvent.run(session, event.seq, event.turnId, event.itemId, event.time, lines[index] ?? "");
    }
    for (const token of batch.spentTokens ?? []) spendToken.run(token, session, updated);
    return integerOf(row, "workspace");
  }

  /** Events after `afterSeq`, until one of both limits is reached. */
  events(
    sessionId: string,
    afterSeq: number,
    limits: { readonly events: number; readonly characters: number },
  ): readonly LoggedEvent[] {
    const events: LoggedEvent[] = [];
    let characters = 0;
    for (const row of this.#statements.readEvents.iterate(sessionId, afterSeq, limits.events)) {
      const json = textOf(row, "json");
      events.push({
        seq: integerOf(row, "seq"),
        turnId: textOf(row, "turn"),
        itemId: textOf(row, "item"),
        time: integerOf(row, "time"),
        event: eventOf(json),
      });
      characters += json.length;
      if (characters >= limits.characters) break;
    }
    return events;
  }
}

const headColumns = "s.id, w.root, u.user, s.title, s.created, s.updated, s.last_seq, s.epoch";

function prepareStatements(database: StoreDatabase) {
  const joined =
    "sessions s JOIN workspaces w ON w.number = s.workspace LEFT JOIN session_users u ON u.session = s.number";
  const newest = "ORDER BY s.updated DESC, s.number DESC LIMIT ?";
  return {
    insertSession: database.prepare(
      "INSERT INTO sessions (id, workspace, title, created, updated, last_seq, epoch) VALUES (?, ?, '', ?, ?, 0, 1)",
    ),
    removeUser: database.prepare("DELETE FROM session_users WHERE session = ?"),
    insertUser: database.prepare("INSERT INTO session_users (session, user) VALUES (?, ?)"),
    head: database.prepare(`SELECT ${headColumns} FROM ${joined} WHERE s.id = ?`),
    listAll: database.prepare(`SELECT ${headColumns} FROM ${joined} ${newest}`),
    listOfWorkspace: database.prepare(`SELECT ${headColumns} FROM ${joined} WHERE w.root = ? ${newest}`),
    listOfUser: database.prepare(`SELECT ${headColumns} FROM ${joined} WHERE u.user = ? ${newest}`),
    listOfUserAndWorkspace: database.prepare(
      `SELECT ${headColumns} FROM ${joined} WHERE u.user = ? AND w.root = ? ${newest}`,
    ),
    setTitle: database.prepare("UPDATE sessions SET title = ? WHERE id = ?"),
    takeOver: database.prepare("UPDATE sessions SET epoch = epoch + 1 WHERE id = ? RETURNING epoch"),
    setEpoch: database.prepare("UPDATE sessions SET epoch = ? WHERE id = ? AND epoch = ?"),
    advance: database.prepare(
      `UPDATE sessions SET last_seq = ?, updated = max(updated, ?)
       WHERE id = ? AND last_seq = ? AND epoch = ? RETURNING number, workspace`,
    ),
    insertEvent: database.prepare(
      "INSERT INTO events (session, seq, turn, item, time, json) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    spendToken: database.prepare("INSERT INTO spent_tokens (sha256, session, time) VALUES (?, ?, ?)"),
    readEvents: database.prepare(
      `SELECT seq, turn, item, time, json FROM events
       WHERE session = (SELECT number FROM sessions WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?`,
    ),
  };
}

function headOf(row: Row): SessionHead {
  return {
    sessionId: textOf(row, "id"),
    workspaceRoot: textOf(row, "root"),
    user: row["user"] === null ? "" : textOf(row, "user"),
    title: textOf(row, "title"),
    created: integerOf(row, "created"),
    updated: integerOf(row, "updated"),
    lastSeq: integerOf(row, "last_seq"),
    epoch: integerOf(row, "epoch"),
  };
}

function eventOf(json: string): SessionEvent {
  const value: unknown = JSON.parse(json);
  if (!isEvent(value))
    throw new StoreError("corrupt", "An event in the log is damaged: restore the state directory from a backup.");
  return value;
}

/** Only `append` writes events, so their type is what makes them one. */
function isEvent(value: unknown): value is SessionEvent {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Events as the log has them once they are in: in order, without a gap after `afterSeq`. */
export function numberedEvents(drafts: readonly EventDraft[], afterSeq: number): readonly LoggedEvent[] {
  return drafts.map(({ turnId, itemId, time, event }, index) => ({
    seq: afterSeq + 1 + index,
    turnId,
    itemId,
    time,
    event,
  }));
}
