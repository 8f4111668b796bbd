import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { ModelError } from "@gennai/agent/model";
import { ServiceError } from "@gennai/machine/service-error";
import { clientPlace } from "@gennai/machine/workspace/paths/client-place";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { ForgottenSession, SessionFilter, SessionHead } from "@gennai/store/log/session-log";
import { type OldOrder, type OldPurge, purgeOld } from "@gennai/store/purge/purge-old";
import { placeOfCommands } from "../client-workspace/held-by-client.ts";
import { refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { SessionServices } from "../session/session-services.ts";
import { forkSession, type SessionOrigin } from "./fork-session.ts";
import { ended, OpenSessions } from "./open-sessions.ts";
import type { SessionsLoad } from "./server-load.ts";

/** The sessions of this server. A logged session is opened on first use. */
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

  /** @param user owner of the session; empty on a server with one user */
  async start(settings: SessionSettings, workingDir: string, user = ""): Promise<Session> {
    await this.#open.makeRoom(user);
    const workspace = await this.openWorkspace(workingDir, user);
    // Starts the check now: the first prompt needs to know whether commands are staged.
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

  /** Real path of the caller's workspace, for calls without a session. Rejects with `ServiceError` if it is no directory. */
  async workspaceOfCaller(): Promise<string | undefined> {
    const { userWorkspaces, callers, openWorkspace } = this.#services;
    const caller = callers.current();
    if (userWorkspaces !== undefined) return userWorkspaces.of(caller?.user ?? "");
    return caller?.workspace === undefined ? this.defaultWorkspace : (await openWorkspace(caller.workspace)).root;
  }

  /** A session on a workspace that a client holds; that client must attach before a turn. */
  async startForClient(settings: SessionSettings, facts: ClientWorkspaceFacts, user = ""): Promise<Session> {
    await this.#open.makeRoom(user);
    await this.checkModel(settings);
    return this.#create(clientPlace(facts.id, user), settings, user, { clientWorkspace: facts });
  }

  /** Rejects at once if a model is unavailable, instead of in the first turn. */
  async checkModel(settings: SessionSettings): Promise<void> {
    try {
      await this.#services.createModel(settings);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      throw new ServiceError("failed_precondition", error.message, {
        reason: `model_${error.code}`,
        hint: error.hint,
        cause: error,
      });
    }
  }

  /** @throws ServiceError `not_found` for an unknown id */
  async get(sessionId: string): Promise<Session> {
    const open = this.#open.find(sessionId);
    if (open !== undefined) return open;
    const head = sessionId === "" ? undefined : await this.#services.log.head(sessionId);
    if (head === undefined) throw noSuchSession();
    await this.#open.makeRoom(head.user);
    // Another caller may have opened it in the meantime: two objects of one session would both write to its log.
    return this.#open.find(sessionId) ?? this.#open.open(head);
  }

  /** Keeps a session in memory until disposed; hold a session while using its object. */
  hold(sessionId: string): Disposable {
    return this.#open.hold(sessionId);
  }

  /** The session's user according to the log; undefined for an unknown id. */
  async userOf(sessionId: string): Promise<string | undefined> {
    return (await this.#services.log.head(sessionId))?.user;
  }

  /** Sessions in memory. */
  get openCount(): number {
    return this.#open.count;
  }

  /** The session's user, if it is open here. */
  userOfOpen(sessionId: string): string | undefined {
    return this.#open.userOf(sessionId);
  }

  list(filter: SessionFilter): Promise<readonly SessionHead[]> {
    return this.#services.log.list(filter);
  }

  /** A session, if it is in this server's memory. */
  async open(sessionId: string): Promise<Session | undefined> {
    return this.#open.find(sessionId);
  }

  /** The session of this server that made a request; distinguishes another user's request from an unknown one. */
  async ownerOfRequest(requestId: string): Promise<Session | undefined> {
    for (const session of await this.#open.all()) {
      if (session.state.openRequests.has(requestId) || session.state.resolvedRequests.has(requestId)) return session;
    }
    return undefined;
  }

  /** A new session with another one's history. @param throughSeq of its last event; 0: all */
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
      // Do not leave a session with half a history. The caller gets the error of the fork, not of this cleanup.
      if (torso !== undefined) await this.#forgetTorso(torso);
      throw error;
    }
  }

  /**
   * Deletes a session permanently. Rejects with `ServiceError` while a turn or a user's action is running, and while an
   * emergency control forbids writes, because it cannot be undone. @param by name of the user who asked for it
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

  /** Forgets sessions that nobody used for long, as a policy wants; those at work stay. Rejects with the signal's reason. */
  purgeOld(order: OldOrder): Promise<OldPurge> {
    const { log } = this.#services;
    return purgeOld(log, order, async (sessionId) => {
      using _held = this.hold(sessionId);
      const open = await this.#open.find(sessionId);
      if (open === undefined) return await log.forget(sessionId, order.by);
      await open.delete(order.by);
      return await this.#open.discard(open);
    });
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

  /** Stops every running turn selected by the filter; resolves with their ids when all have ended. */
  async stop(filter: (session: Session) => boolean, reason: string): Promise<readonly string[]> {
    return this.#stopEach(async (session) => (filter(session) ? session.turns.cancel(reason) : undefined));
  }

  /** Stops every running turn because the server shuts down: a user can continue them afterwards. */
  async leave(): Promise<void> {
    await this.#stopEach((session) => session.turns.leave());
    await Promise.all((await this.#open.all()).map(ended));
  }

  async #stopEach(stop: (session: Session) => Promise<string | undefined>): Promise<readonly string[]> {
    for (const opening of this.#open.opening()) void stopOnceOpen(opening, stop);
    const stopped = await Promise.all((await this.#open.all()).map(stop));
    return stopped.filter((turnId) => turnId !== undefined);
  }

  /** Stops all background runs. @param by who stopped them, e.g. `an emergency control` */
  async stopBackground(by: string): Promise<void> {
    await Promise.all((await this.#open.all()).map(({ background }) => background.stopAll(by)));
  }

  /** Sends an event to every open session, or to those of one workspace; rejects with the first failure after all were sent. */
  async announce(event: SessionEvent, workspaceRoot?: string): Promise<void> {
    const told = await Promise.allSettled(
      (await this.#open.all()).map(async (session) => {
        if (workspaceRoot === undefined || session.workspace.place === workspaceRoot) await session.announce(event);
      }),
    );
    for (const each of told)
      if (each.status === "rejected" && !(each.reason instanceof ServiceError)) throw each.reason;
  }

  /** Workspaces of this server: the default one and those of its open sessions. */
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
    for (const { turns, clients, writer, requests, background } of await this.#open.all()) {
      load.sessionsOpen += 1;
      load.turnsRunning += turns.isBusy ? 1 : 0;
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
    const { client, root } = session.workspace;
    if (client === undefined) await this.#services.stages?.support(root);
    const { isolation, isolationReason } = placeOfCommands(session);
    const unsandboxed: SessionEvent = {
      type: "warning",
      text: `Commands run without a sandbox: ${isolationReason.replace(/\.$/, "")}. Only commands proven to read run without a question.`,
    };
    const isBare = isolation === "unsandboxed" && client?.commands !== "none";
    await session.writer.commit(
      [{ type: "session-started", workingDir: root, settings, ...origin }, ...(isBare ? [unsandboxed] : [])],
      { turnId: "", durable: true },
    );
    return session;
  }
}

const deleteTool = { name: "DeleteSession", statement: "Delete a session for good" } as const;

/** The same error for an unknown id and for another user's session, so that callers cannot tell them apart. */
export function noSuchSession(): ServiceError {
  return new ServiceError("not_found", "There is no such session.", { hint: "Start one, or list them." });
}

/** A turn that waits for its session to open starts right after that; this stops it. Never rejects. */
async function stopOnceOpen(
  opening: Promise<Session>,
  stop: (session: Session) => Promise<string | undefined>,
): Promise<void> {
  try {
    const session = await opening;
    // Callers that waited for it run first.
    await nextTick();
    await stop(session);
  } catch {
    // It never opened, so nothing of it runs.
  }
}
