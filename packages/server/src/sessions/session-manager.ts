import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { ModelError } from "@gennai/agent/model";
import type { FileChangeRecord } from "@gennai/agent/proposal";
import type { SessionEvent } from "@gennai/agent/session-event";
import type { SessionSettings } from "@gennai/agent/session-settings";
import type { ClientWorkspaceFacts } from "@gennai/agent/workspace-operation";
import { finishInterruptedRestore } from "../checkpoints/finish-restore.ts";
import { clientPlace } from "../client-workspace/client-place.ts";
import { ServiceError } from "../service-error.ts";
import type { SessionsLoad } from "../telemetry/server-load.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { SessionFilter, SessionHead } from "./log/session-log.ts";
import { Session } from "./session.ts";
import type { SessionServices } from "./session-services.ts";

/** Sessions that may be open at once in one server. */
const maxOpenSessions = 500;
/** Milliseconds without a use after which a session may be closed to make room for another. */
const idleMs = 600_000;
/** The same where there is no room otherwise; longer than any call takes that still holds the session. */
const shortIdleMs = 60_000;

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

/** The sessions of this server. A session of the log opens when somebody first asks for it. */
export class SessionManager {
  readonly #services: SessionServices;
  /** Undefined: a session must name its workspace. */
  readonly defaultWorkspace: string | undefined;
  readonly #open = new Map<string, Promise<Session>>();
  /** Whose the open ones are, by session. */
  readonly #users = new Map<string, string>();

  constructor(services: SessionServices, options: { readonly defaultWorkspace: string | undefined }) {
    this.#services = services;
    this.defaultWorkspace = options.defaultWorkspace;
  }

  get services(): SessionServices {
    return this.#services;
  }

  /** @param user whose session it is to be; empty on a server with one */
  async start(settings: SessionSettings, workingDir: string, user = ""): Promise<Session> {
    await this.#refuseWhenFull(user);
    const workspace = await this.openWorkspace(workingDir, user);
    await this.checkModel(settings);
    return this.#create(workspace.root, settings, user);
  }

  /**
   * The workspace that a session of this user would work in. Rejects with `ServiceError`.
   * @param workingDir empty: the user's own, or the server's default
   */
  async openWorkspace(workingDir: string, user = ""): Promise<Workspace> {
    const { userWorkspaces } = this.#services;
    const own = userWorkspaces?.resolve(user, workingDir);
    const directory = own ?? (workingDir === "" ? this.defaultWorkspace : workingDir);
    if (directory === undefined) {
      throw new ServiceError(
        "invalid_argument",
        "settings.working_dir is empty and this server has no default workspace.",
      );
    }
    if (!isAbsolute(directory)) {
      throw new ServiceError("invalid_argument", "settings.working_dir must be an absolute path.");
    }
    const workspace = await this.#services.openWorkspace(directory);
    userWorkspaces?.assertOwn(user, workspace.root);
    return workspace;
  }

  /** A session on a workspace that a client holds; whoever holds it has to attach before a turn. */
  async startForClient(settings: SessionSettings, facts: ClientWorkspaceFacts, user = ""): Promise<Session> {
    await this.#refuseWhenFull(user);
    await this.checkModel(settings);
    return this.#create(clientPlace(facts.id, user), settings, user, { clientWorkspace: facts });
  }

  /** Finds out at once that a model cannot be had, not in the first turn. */
  async checkModel(settings: SessionSettings): Promise<void> {
    try {
      await this.#services.createModel(settings);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      throw new ServiceError("failed_precondition", error.message, {
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        cause: error,
      });
    }
  }

  /** @throws ServiceError `not_found` for an id that no log has */
  async get(sessionId: string): Promise<Session> {
    const open = this.#open.get(sessionId);
    if (open !== undefined) return open;
    const head = sessionId === "" ? undefined : await this.#services.log.head(sessionId);
    if (head === undefined) throw noSuchSession();
    await this.#refuseWhenFull(head.user);
    // Somebody else may have opened it while we looked: two objects of one session would both write to its log.
    return this.#open.get(sessionId) ?? this.#opened(head);
  }

  /** Whose session it is, by the log; undefined for an id that no log has. */
  async userOf(sessionId: string): Promise<string | undefined> {
    return (await this.#services.log.head(sessionId))?.user;
  }

  /** Sessions in memory. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Whose session it is, if it is open here. */
  userOfOpen(sessionId: string): string | undefined {
    return this.#users.get(sessionId);
  }

  list(filter: SessionFilter): Promise<readonly SessionHead[]> {
    return this.#services.log.list(filter);
  }

  /** The running turn of a session, if this server runs one. */
  runningTurn(sessionId: string): Promise<string | undefined> {
    return this.#open.get(sessionId)?.then((session) => session.runningTurnId) ?? Promise.resolve(undefined);
  }

  /** Which of this server's sessions made a request; tells a foreign answer from an unknown one. */
  async ownerOfRequest(requestId: string): Promise<Session | undefined> {
    for (const session of await Promise.all(this.#open.values())) {
      if (session.state.openRequests.has(requestId) || session.state.resolvedRequests.has(requestId)) return session;
    }
    return undefined;
  }

  /** A new session that begins with another one's history. */
  async fork(sessionId: string, throughSeq: number): Promise<Session> {
    const source = await this.get(sessionId);
    await this.#refuseWhenFull(source.user);
    if (throughSeq > source.state.lastSeq) {
      throw new ServiceError("invalid_argument", `The session's last event is ${source.state.lastSeq}.`);
    }
    const through = throughSeq === 0 ? source.state.lastSeq : throughSeq;
    const { clientWorkspace } = source.state;
    const fork = await this.#create(source.workspace.place, source.settings, source.user, {
      forkedFrom: source.id,
      ...(clientWorkspace === undefined ? {} : { clientWorkspace }),
      inheritedFiles: await this.#changedFiles(sessionId, through),
    });
    for (let after = 0; after < through; ) {
      const page = await this.#services.log.read(sessionId, after, 500);
      if (page.length === 0) break;
      for (const { seq, turnId, itemId, event } of page) {
        // The fork has a beginning of its own; the source's changes to files are not its to undo, nor are its plans.
        if (seq > through || notForked.has(event.type)) continue;
        fork.writer.emit(event, { turnId, itemId });
      }
      await fork.writer.flush();
      after = page[page.length - 1]?.seq ?? through;
    }
    await fork.endCopiedTurn();
    if (fork.state.title !== "") await this.#services.log.setTitle(fork.id, fork.state.title);
    return fork;
  }

  /** Ends every running turn that the filter names; resolves with their ids when all have ended. */
  async stop(filter: (session: Session) => boolean, reason: string): Promise<readonly string[]> {
    const sessions = await Promise.all(this.#open.values());
    const stopped = await Promise.all(sessions.filter(filter).map((session) => session.cancel(reason)));
    return stopped.filter((turnId) => turnId !== undefined);
  }

  /** Tells every open session, or those of one workspace; rejects with the first failure after all were told. */
  async announce(event: SessionEvent, workspaceRoot?: string): Promise<void> {
    const told = await Promise.allSettled(
      [...this.#open.values()].map(async (opening) => {
        const session = await opening;
        if (workspaceRoot === undefined || session.workspace.place === workspaceRoot) await session.announce(event);
      }),
    );
    for (const each of told)
      if (each.status === "rejected" && !(each.reason instanceof ServiceError)) throw each.reason;
  }

  /** Where this server works: its default workspace and those of its open sessions. */
  async workspaceRoots(): Promise<readonly string[]> {
    const open = await Promise.allSettled(this.#open.values());
    const roots = open.flatMap((each) => (each.status === "fulfilled" ? [each.value.workspace.place] : []));
    return [...new Set(this.defaultWorkspace === undefined ? roots : [this.defaultWorkspace, ...roots])];
  }

  /** How much this server's sessions have to do. */
  async load(): Promise<SessionsLoad> {
    const load = { sessionsOpen: 0, turnsRunning: 0, subscribers: 0, eventsQueued: 0, requestsOpen: 0 };
    for (const each of await Promise.allSettled(this.#open.values())) {
      if (each.status === "rejected") continue;
      const { runningTurnId, clients, writer, requests } = each.value;
      load.sessionsOpen += 1;
      load.turnsRunning += runningTurnId === undefined ? 0 : 1;
      load.subscribers += clients.count;
      load.eventsQueued += writer.queued;
      load.requestsOpen += requests.openCount;
    }
    return load;
  }

  /** Closes sessions that nobody has used for a while, least recently opened first; they open again when asked for. */
  async #closeIdle(milliseconds: number, mayStop: () => boolean): Promise<void> {
    for (const [id, opening] of [...this.#open]) {
      if (mayStop()) return;
      const session = await opening.catch(() => undefined);
      if (session === undefined || session.isIdleFor(milliseconds)) this.#forget(id);
    }
  }

  async #refuseWhenFull(user: string): Promise<void> {
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

  /** A user's open sessions; none counts where there is only one user. */
  #ofUser(user: string): number {
    if (user === "") return 0;
    let count = 0;
    for (const each of this.#users.values()) if (each === user) count += 1;
    return count;
  }

  async #changedFiles(sessionId: string, through: number): Promise<readonly FileChangeRecord[]> {
    const changed = new Map<string, FileChangeRecord>();
    for (let after = 0; after < through; ) {
      const page = await this.#services.log.read(sessionId, after, 500);
      if (page.length === 0) break;
      for (const { seq, event } of page) {
        if (seq > through) break;
        if (event.type === "session-started")
          for (const file of event.inheritedFiles ?? []) changed.set(file.path, file);
        if (event.type === "change-set-applied") for (const file of event.files) changed.set(file.path, file);
        if (event.type === "change-set-undone") for (const file of event.files) changed.delete(file.path);
      }
      after = page[page.length - 1]?.seq ?? through;
    }
    return [...changed.values()];
  }

  async #create(
    place: string,
    settings: SessionSettings,
    user: string,
    origin: {
      readonly forkedFrom?: string;
      readonly inheritedFiles?: readonly FileChangeRecord[];
      readonly clientWorkspace?: ClientWorkspaceFacts;
    } = {},
  ): Promise<Session> {
    const sessionId = randomUUID();
    const head = await this.#services.log.create({ sessionId, workspaceRoot: place, time: this.#services.now(), user });
    const session = await this.#opened(head, origin.clientWorkspace);
    const { sandbox } = this.#services;
    const { client, root } = session.workspace;
    const reason = client === undefined ? sandbox.reason : "the client that holds the files has none";
    const isBoxed = client === undefined ? sandbox.state === "sandboxed" : client.commands !== "unsandboxed";
    const unsandboxed: SessionEvent = {
      type: "warning",
      text: `Commands run without a sandbox: ${reason}. Only commands proven to read run without a question.`,
    };
    await session.writer.commit(
      [{ type: "session-started", workingDir: root, settings, ...origin }, ...(isBoxed ? [] : [unsandboxed])],
      { turnId: "", durable: true },
    );
    return session;
  }

  #opened(head: SessionHead, clientWorkspace?: ClientWorkspaceFacts): Promise<Session> {
    const opening = Session.open(this.#services, head, clientWorkspace).then(async (session) => {
      await finishInterruptedRestore(session);
      return session;
    });
    this.#open.set(head.sessionId, opening);
    this.#users.set(head.sessionId, head.user);
    opening.catch(() => this.#forget(head.sessionId));
    return opening;
  }

  #forget(sessionId: string): void {
    this.#open.delete(sessionId);
    this.#users.delete(sessionId);
  }
}

/** The same for an id that nobody has and for one that is not the caller's: which of the two it is, is nobody's business. */
export function noSuchSession(): ServiceError {
  return new ServiceError("not_found", "There is no such session.", { hint: "Start one, or list them." });
}
