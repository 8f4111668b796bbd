import type { ClientWorkspaceFacts } from "@gennai/agent/workspace-operation";
import { finishInterruptedRestore } from "../checkpoints/restore/finish-restore.ts";
import { ServiceError } from "../service-error.ts";
import type { SessionHead } from "./log/session-log.ts";
import { Session } from "./session.ts";
import type { SessionServices } from "./session-services.ts";

/** Sessions that may be open at once in one server. */
const maxOpenSessions = 500;
/** Milliseconds without a use after which a session may be closed to make room for another. */
const idleMs = 600_000;
/** The same where there is no room otherwise; longer than any call takes that still holds the session. */
const shortIdleMs = 60_000;

/** The sessions in this server's memory, one object for each. Those that nobody uses make room for others. */
export class OpenSessions {
  readonly #services: SessionServices;
  readonly #open = new Map<string, Promise<Session>>();
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

  /** Makes room for one more session of this user. Rejects with `ServiceError` when all of them are in use. */
  async makeRoom(user: string): Promise<void> {
    const { admission } = this.#services;
    const { sessionsPerUser } = admission;
    const serverHasRoom = (): boolean => this.#open.size < maxOpenSessions && admission.hasRoomForSession();
    const hasRoom = (): boolean => serverHasRoom() && this.#ofUser(user) < sessionsPerUser;
    if (!hasRoom()) await this.#closeIdle(idleMs, hasRoom);
    if (!hasRoom()) await this.#closeIdle(shortIdleMs, hasRoom);
    if (hasRoom()) return;
    const message = serverHasRoom()
      ? `You have your limit of ${sessionsPerUser} sessions open.`
      : "This server has as many sessions open as it may.";
    throw new ServiceError("resource_exhausted", message, {
      reason: "too_many_sessions",
      retryAfterMs: 30_000,
      hint: "All of them are in use: end one, or continue one.",
    });
  }

  /** Closes sessions that nobody has used for a while, least recently opened first; they open again when asked for. */
  async #closeIdle(milliseconds: number, mayStop: () => boolean): Promise<void> {
    for (const [id, opening] of [...this.#open]) {
      if (mayStop()) return;
      const session = await opening.catch(() => undefined);
      if (session?.isIdleFor(milliseconds) === false || this.#open.get(id) !== opening) continue;
      this.#forget(id);
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
