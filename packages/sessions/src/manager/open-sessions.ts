import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "@gennai/machine/service-error";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { SessionHead } from "@gennai/store/log/session-log";
import { finishInterruptedRestore } from "../restore/finish-restore.ts";
import { tellSessionEnd } from "../rules/session-hooks.ts";
import { Session } from "../session/session.ts";
import type { SessionServices } from "../session/session-services.ts";

/** Milliseconds of the longest of several waits for a session that only a call holds, usually until its write is committed. */
const longestWaitMs = 2_000;
/** Sessions of a user that stay open although nobody uses them: each has a network and a conversation, and opens again at once. */
const mostUnused = 8;

/**
 * The sessions in this server's memory, one object each. Beyond some, and if there is no room, the least recently used one is
 * closed, unless it is in use: a turn runs, a client listens, or a call holds it.
 */
export class OpenSessions {
  readonly #services: SessionServices;
  /** Least recently used first. */
  readonly #open = new Map<string, Promise<Session>>();
  /** How often each session is held, by id; includes sessions that are not open. */
  readonly #held = new Map<string, number>();
  /** Sessions still being opened. */
  readonly #opening = new Set<Promise<Session>>();
  /** Users of the open sessions. */
  readonly #users = new Map<string, string>();

  constructor(services: SessionServices) {
    this.#services = services;
  }

  get count(): number {
    return this.#open.size;
  }

  find(sessionId: string): Promise<Session> | undefined {
    return this.#open.get(sessionId);
  }

  /** A held session is not closed, so that its object stays usable. Dispose once. */
  hold(sessionId: string): Disposable {
    this.#held.set(sessionId, (this.#held.get(sessionId) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = (this.#held.get(sessionId) ?? 1) - 1;
        if (left > 0) this.#held.set(sessionId, left);
        else this.#held.delete(sessionId);
        const opening = this.#open.get(sessionId);
        if (opening === undefined) return;
        this.#open.delete(sessionId);
        this.#open.set(sessionId, opening);
      },
    };
  }

  /** Sessions that are already open. One still opening runs nothing, and must not delay or fail the caller. */
  async all(): Promise<readonly Session[]> {
    const open = [...this.#open.values()].map((opening) =>
      Promise.race([opening, Promise.resolve(undefined)]).catch(() => undefined),
    );
    return (await Promise.all(open)).filter((session) => session !== undefined);
  }

  /** Sessions still being opened; each may still fail. */
  opening(): readonly Promise<Session>[] {
    return [...this.#opening];
  }

  /** The user of the session, if it is open here. */
  userOf(sessionId: string): string | undefined {
    return this.#users.get(sessionId);
  }

  /** Opens a logged session. Two objects of one session would both write to its log, so call `find` in the same tick. */
  open(head: SessionHead, clientWorkspace?: ClientWorkspaceFacts): Promise<Session> {
    const opening = Session.open(this.#services, head, clientWorkspace).then(async (session) => {
      await finishInterruptedRestore(session);
      return session;
    });
    this.#open.set(head.sessionId, opening);
    this.#users.set(head.sessionId, head.user);
    this.#opening.add(opening);
    const opened = () => void this.#opening.delete(opening);
    opening.then(opened, () => {
      opened();
      this.#forget(head.sessionId);
    });
    return opening;
  }

  /** Makes room for one more session of this user. Rejects with `ServiceError` if all stay in use. */
  async makeRoom(user: string): Promise<void> {
    const { admission } = this.#services;
    const { sessionsPerUser } = admission;
    const isTheirs = (id: string): boolean => this.#users.get(id) === user;
    await this.#closeIdle(isTheirs, () => [...this.#open.keys()].filter(isTheirs).length < mostUnused);
    for (let waitMs = 5; !(await this.#madeRoom(user)); waitMs *= 2) {
      if (waitMs <= longestWaitMs && (await this.#isAlmostFree(user))) {
        await sleep(waitMs);
        continue;
      }
      const message = admission.hasRoomForSession()
        ? `You have reached your limit of ${sessionsPerUser} sessions open.`
        : "This server has reached its limit of open sessions.";
      throw new ServiceError("resource_exhausted", message, {
        reason: "too_many_sessions",
        retryAfterMs: 30_000,
        hint: "All of them are in use: end one, or continue one.",
      });
    }
  }

  async #madeRoom(user: string): Promise<boolean> {
    const { admission } = this.#services;
    const { sessionsPerUser } = admission;
    const userHasRoom = (): boolean => this.#ofUser(user) < sessionsPerUser;
    // The user at the limit gives up sessions: many sessions of one user never close those of another.
    if (!userHasRoom()) await this.#closeIdle((id) => this.#users.get(id) === user, userHasRoom);
    const hasRoom = (): boolean => userHasRoom() && admission.hasRoomForSession();
    if (userHasRoom() && !hasRoom()) await this.#closeIdle(() => true, hasRoom);
    return hasRoom();
  }

  /** Whether a session that could make room is held only by a call, without a turn or a client. */
  async #isAlmostFree(user: string): Promise<boolean> {
    const isMeant = (id: string): boolean =>
      this.#ofUser(user) < this.#services.admission.sessionsPerUser || this.#users.get(id) === user;
    for (const [id, opening] of [...this.#open]) {
      if (!isMeant(id)) continue;
      if (this.#opening.has(opening)) return true;
      const session = await opening.catch(() => undefined);
      if (session !== undefined && !session.turns.isBusy && !session.clients.isAttached) return true;
    }
    return false;
  }

  /** Closes a deleted session. */
  async discard(session: Session): Promise<void> {
    this.#forget(session.id);
    await ended(session);
    await session.background[Symbol.asyncDispose]();
    if (session.workspace.client !== undefined) this.#services.closeClientWorkspace(session.workspace, session.id);
  }

  /** Closes unused sessions, least recently used first; they open again when needed. */
  async #closeIdle(isMeant: (sessionId: string) => boolean, mayStop: () => boolean): Promise<void> {
    for (const [id, opening] of [...this.#open]) {
      if (mayStop()) return;
      if (!isMeant(id) || this.#held.has(id) || this.#opening.has(opening)) continue;
      const session = await opening.catch(() => undefined);
      if (session?.isIdle === false || this.#held.has(id) || this.#open.get(id) !== opening) continue;
      this.#forget(id);
      if (session !== undefined) await ended(session);
      await session?.background[Symbol.asyncDispose]();
      if (session?.workspace.client !== undefined) this.#services.closeClientWorkspace(session.workspace, id);
    }
  }

  /** Number of a user's open sessions; 0 on a server with one user. */
  #ofUser(user: string): number {
    if (user === "") return 0;
    let count = 0;
    for (const each of this.#users.values()) if (each === user) count += 1;
    return count;
  }

  #forget(sessionId: string): void {
    this.#open.delete(sessionId);
    this.#users.delete(sessionId);
  }
}

/** Tells users' programs, if they were told of its start. */
export async function ended(session: Session): Promise<void> {
  if (session.startDue === undefined) await tellSessionEnd(session, "other");
}
