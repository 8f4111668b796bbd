import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { ModelError } from "@gennai/agent/model";
import { ServiceError } from "@gennai/machine/service-error";
import { clientPlace } from "@gennai/machine/workspace/paths/client-place";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/editor/client-workspace";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { ForgottenSession, SessionFilter, SessionHead } from "@gennai/store/log/session-log";
import { refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { SessionServices } from "../session/session-services.ts";
import { forkSession, type SessionOrigin } from "./fork-session.ts";
import { OpenSessions } from "./open-sessions.ts";
import type { SessionsLoad } from "./server-load.ts";

/** The sessions of this server. A session of the log opens when somebody first asks for it. */
export class SessionManager {
  readonly #services: SessionServices;
  /** Undefined: a session must name its workspace. */
  readonly defaultWorkspace: string | undefined;
  readonly #open: OpenSessions;

  constructor(services: SessionServices, options: { readonly defaultWorkspace: string | undefined }) {
    this.#services = services;
    this.#open = new OpenSessions(services);
    this.defaultWorkspace = options.defaultWorkspace;
  }

  get services(): SessionServices {
    return this.#services;
  }

  /** @param user whose session it is to be; empty on a server with one */
  async start(settings: SessionSettings, workingDir: string, user = ""): Promise<Session> {
    await this.#open.makeRoom(user);
    const workspace = await this.openWorkspace(workingDir, user);
    // Found out while the session is made: its first prompt says whether commands are staged.
    void this.#services.stages?.support(workspace.root);
    await this.checkModel(settings);
    return this.#create(workspace.root, settings, user);
  }

  /**
   * The workspace that a session of this user would work in. Rejects with `ServiceError`.
   * @param workingDir empty: the user's own, or the server's default
   */
  async openWorkspace(workingDir: string, user = ""): Promise<Workspace> {
    const { userWorkspaces, callers } = this.#services;
    const own = userWorkspaces?.resolve(user, workingDir);
    const directory = own ?? (workingDir || callers.current()?.workspace || this.defaultWorkspace);
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

  /** Real path of where a call belongs that names no session. Rejects with `ServiceError` for no directory. */
  async workspaceOfCaller(): Promise<string | undefined> {
    const { userWorkspaces, callers, openWorkspace } = this.#services;
    const caller = callers.current();
    if (userWorkspaces !== undefined) return userWorkspaces.of(caller?.user ?? "");
    return caller?.workspace === undefined ? this.defaultWorkspace : (await openWorkspace(caller.workspace)).root;
  }

  /** A session on a workspace that a client holds; anyone who holds it has to attach before a turn. */
  async startForClient(settings: SessionSettings, facts: ClientWorkspaceFacts, user = ""): Promise<Session> {
    await this.#open.makeRoom(user);
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
        reason: `model_${error.code}`,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        cause: error,
      });
    }
  }

  /** @throws ServiceError `not_found` for an id that no log has */
  async get(sessionId: string): Promise<Session> {
    const open = this.#open.find(sessionId);
    if (open !== undefined) return open;
    const head = sessionId === "" ? undefined : await this.#services.log.head(sessionId);
    if (head === undefined) throw noSuchSession();
    await this.#open.makeRoom(head.user);
    // Somebody else may have opened it while we looked: two objects of one session would both write to its log.
    return this.#open.find(sessionId) ?? this.#open.open(head);
  }

  /** Keeps a session, once it is open, until disposed: anyone who uses its object holds it. */
  hold(sessionId: string): Disposable {
    return this.#open.hold(sessionId);
  }

  /** Whose session it is, by the log; undefined for an id that no log has. */
  async userOf(sessionId: string): Promise<string | undefined> {
    return (await this.#services.log.head(sessionId))?.user;
  }

  /** Sessions in memory. */
  get openCount(): number {
    return this.#open.count;
  }

  /** Whose session it is, if it is open here. */
  userOfOpen(sessionId: string): string | undefined {
    return this.#open.userOf(sessionId);
  }

  list(filter: SessionFilter): Promise<readonly SessionHead[]> {
    return this.#services.log.list(filter);
  }

  /** The running turn of a session, if this server runs one. */
  runningTurn(sessionId: string): Promise<string | undefined> {
    return this.#open.find(sessionId)?.then((session) => session.runningTurnId) ?? Promise.resolve(undefined);
  }

  /** Which of this server's sessions made a request; tells a foreign answer from an unknown one. */
  async ownerOfRequest(requestId: string): Promise<Session | undefined> {
    for (const session of await this.#open.all()) {
      if (session.state.openRequests.has(requestId) || session.state.resolvedRequests.has(requestId)) return session;
    }
    return undefined;
  }

  /** A new session that begins with another one's history. @param throughSeq of its last event; 0: all there is */
  async fork(sessionId: string, throughSeq: number): Promise<Session> {
    using _held = this.hold(sessionId);
    const source = await this.get(sessionId);
    await this.#open.makeRoom(source.user);
    let torso: Session | undefined;
    try {
      return await forkSession(source, throughSeq, async (origin) => {
        torso = await this.#create(source.workspace.place, source.settings, source.user, origin);
        return torso;
      });
    } catch (error) {
      // Half a history must not look like a session. Why the fork failed is what its asker is told.
      if (torso !== undefined) await this.#forgetTorso(torso);
      throw error;
    }
  }

  /**
   * Forgets a session for good. Rejects with `ServiceError` while a turn of it runs or a person does something to it, and while an
   * emergency control forbids such a write: nothing brings it back. @param by name of the one who asked for it
   */
  async delete(sessionId: string, by: string): Promise<ForgottenSession> {
    using _held = this.hold(sessionId);
    const session = await this.get(sessionId);
    const { services } = session;
    const tool = { ...deleteTool, outside: services.ownDirectories[0] ?? session.workspace.root };
    const forgotten = await session.delete(by, () => refuseInEmergency(session, "Nothing was deleted", tool));
    await this.#open.discard(session);
    return forgotten;
  }

  /** Never rejects. */
  async #forgetTorso(torso: Session): Promise<void> {
    try {
      await torso.delete("a fork that failed");
      await this.#open.discard(torso);
    } catch (error) {
      this.#services.onUnexpectedError(error);
    }
  }

  /** Ends every running turn that the filter names; resolves with their ids when all have ended. */
  async stop(filter: (session: Session) => boolean, reason: string): Promise<readonly string[]> {
    return this.#stopEach(async (session) => (filter(session) ? session.cancel(reason) : undefined));
  }

  /** Ends every running turn because the server ends: a person can go on with them afterwards. */
  async leave(): Promise<void> {
    await this.#stopEach((session) => session.leave());
  }

  async #stopEach(stop: (session: Session) => Promise<string | undefined>): Promise<readonly string[]> {
    for (const opening of this.#open.opening()) void stopOnceOpen(opening, stop);
    const stopped = await Promise.all((await this.#open.all()).map(stop));
    return stopped.filter((turnId) => turnId !== undefined);
  }

  /** Ends all that sessions run in the background. @param by who ended it, e.g. `an emergency control` */
  async stopBackground(by: string): Promise<void> {
    await Promise.all((await this.#open.all()).map(({ background }) => background.stopAll(by)));
  }

  /** Tells every open session, or those of one workspace; rejects with the first failure after all were told. */
  async announce(event: SessionEvent, workspaceRoot?: string): Promise<void> {
    const told = await Promise.allSettled(
      (await this.#open.all()).map(async (session) => {
        if (workspaceRoot === undefined || session.workspace.place === workspaceRoot) await session.announce(event);
      }),
    );
    for (const each of told)
      if (each.status === "rejected" && !(each.reason instanceof ServiceError)) throw each.reason;
  }

  /** Where this server works: its default workspace and those of its open sessions. */
  async workspaceRoots(): Promise<readonly string[]> {
    const roots = (await this.#open.all()).map(({ workspace }) => workspace.place);
    return [...new Set(this.defaultWorkspace === undefined ? roots : [this.defaultWorkspace, ...roots])];
  }

  /** How much this server's sessions have to do. */
  async load(): Promise<SessionsLoad> {
    const load = {
      sessionsOpen: 0,
      turnsRunning: 0,
      subscribers: 0,
      eventsQueued: 0,
      requestsOpen: 0,
      backgroundRuns: 0,
    };
    for (const { hasTurn, clients, writer, requests, background } of await this.#open.all()) {
      load.sessionsOpen += 1;
      load.turnsRunning += hasTurn ? 1 : 0;
      load.subscribers += clients.count;
      load.eventsQueued += writer.queued;
      load.requestsOpen += requests.openCount;
      load.backgroundRuns += background.list().filter(({ state }) => state === "running").length;
    }
    return load;
  }

  async #create(place: string, settings: SessionSettings, user: string, origin: SessionOrigin = {}): Promise<Session> {
    this.#services.admission.assertRoomForNew();
    const sessionId = randomUUID();
    using _held = this.hold(sessionId);
    const head = await this.#services.log.create({ sessionId, workspaceRoot: place, time: this.#services.now(), user });
    const session = await this.#open.open(head, origin.clientWorkspace);
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
}

const deleteTool = { name: "DeleteSession", statement: "Delete a session for good" } as const;

/** The same for an id that nobody has and for one that is not the caller's: which of the two it is, is not for others to know. */
export function noSuchSession(): ServiceError {
  return new ServiceError("not_found", "There is no such session.", { hint: "Start one, or list them." });
}

/** A turn that waits for its session to open begins right after that: then it is stopped. Never rejects. */
async function stopOnceOpen(
  opening: Promise<Session>,
  stop: (session: Session) => Promise<string | undefined>,
): Promise<void> {
  try {
    const session = await opening;
    // Anyone who waited for it goes first.
    await nextTick();
    await stop(session);
  } catch {
    // It never opened, so that nothing of it runs.
  }
}
