import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "@gennai/machine/service-error";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/editor/client-workspace";
import type { SessionHead } from "@gennai/store/log/session-log";
import { finishInterruptedRestore } from "../restore/finish-restore.ts";
import { Session } from "../session/session.ts";
import type { SessionServices } from "../session/session-services.ts";

/** Milliseconds of the last of several waits for a session that only a call holds, mostly until its write is committed. */
const longestWaitMs = 2_000;

/**
 * The sessions in this server's memory, one object for each. Where there is no room, the one that was used longest ago makes
 * room, unless it is in use: a turn runs, a client listens, or a call holds it.
 */
export class OpenSessions {
  readonly #services: SessionServices;
  /** The least recently used one first. */
  readonly #open = new Map<string, Promise<Session>>();
  /** How often each is held, by id; also of those that are not open. */
  readonly #held = new Map<string, number>();
  /** Those of them that are not open yet. */
  readonly #opening = new Set<Promise<Session>>();
  /** Whose the open ones are, by session. */
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

  /** A session that is held is not closed: anyone who has its object may go on using it. Dispose once. */
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

  /** Those that are open by now. One that still opens runs nothing, and must not keep anybody waiting, or fail them. */
  async all(): Promise<readonly Session[]> {
    const open = [...this.#open.values()].map((opening) =>
      Promise.race([opening, Promise.resolve(undefined)]).catch(() => undefined),
    );
    return (await Promise.all(open)).filter((session) => session !== undefined);
  }

  /** Those that are not open yet; each may still fail. */
  opening(): readonly Promise<Session>[] {
    return [...this.#opening];
  }

  /** Whose session it is, if it is open here. */
  userOf(sessionId: string): string | undefined {
    return this.#users.get(sessionId);
  }

  /** Opens a session of the log. Two objects of one session would both write to its log: ask `find` in the same tick. */
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

  /** Makes room for one more session of this user. Rejects with `ServiceError` when all of them stay in use. */
  async makeRoom(user: string): Promise<void> {
    const { admission } = this.#services;
    const { sessionsPerUser } = admission;
    for (let waitMs = 5; !(await this.#madeRoom(user)); waitMs *= 2) {
      if (waitMs <= longestWaitMs && (await this.#isAlmostFree(user))) {
        await sleep(waitMs);
        continue;
      }
      const message = admission.hasRoomForSession()
        ? `You have your limit of ${sessionsPerUser} sessions open.`
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
    // Whose limit it is gives way: the many sessions of one user close no session of another.
    if (!userHasRoom()) await this.#closeIdle((id) => this.#users.get(id) === user, userHasRoom);
    const hasRoom = (): boolean => userHasRoom() && admission.hasRoomForSession();
    if (userHasRoom() && !hasRoom()) await this.#closeIdle(() => true, hasRoom);
    return hasRoom();
  }

  /** Whether a session that could make room is in use by a call alone, without a turn or a client. */
  async #isAlmostFree(user: string): Promise<boolean> {
    const isMeant = (id: string): boolean =>
      this.#ofUser(user) < this.#services.admission.sessionsPerUser || this.#users.get(id) === user;
    for (const [id, opening] of [...this.#open]) {
      if (!isMeant(id)) continue;
      if (this.#opening.has(opening)) return true;
      const session = await opening.catch(() => undefined);
      if (session !== undefined && !session.hasTurn && !session.clients.isAttached) return true;
    }
    return false;
  }

  /** Of a session that was deleted. */
  async discard(session: Session): Promise<void> {
    this.#forget(session.id);
    await session.background[Symbol.asyncDispose]();
    if (session.workspace.client !== undefined) this.#services.closeClientWorkspace(session.workspace, session.id);
  }

  /** Closes sessions that nobody uses, least recently used first; they open again when asked for. */
  async #closeIdle(isMeant: (sessionId: string) => boolean, mayStop: () => boolean): Promise<void> {
    for (const [id, opening] of [...this.#open]) {
      if (mayStop()) return;
      if (!isMeant(id) || this.#held.has(id) || this.#opening.has(opening)) continue;
      const session = await opening.catch(() => undefined);
      if (session?.isIdle === false || this.#held.has(id) || this.#open.get(id) !== opening) continue;
      this.#forget(id);
      await session?.background[Symbol.asyncDispose]();
      if (session?.workspace.client !== undefined) this.#services.closeClientWorkspace(session.workspace, id);
    }
  }

  /** A user's open sessions; none counts where there is only one user. */
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
