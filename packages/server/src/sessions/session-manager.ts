import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { ModelError } from "@gennai/agent/model";
import type { FileChangeRecord } from "@gennai/agent/proposal";
import type { SessionEvent } from "@gennai/agent/session-event";
import type { SessionSettings } from "@gennai/agent/session-settings";
import { ServiceError } from "../service-error.ts";
import { Session } from "./session.ts";
import type { SessionHead } from "./session-log.ts";
import type { SessionServices } from "./session-services.ts";

/** Sessions that may be open at once in one server. */
const maxOpenSessions = 500;
/** Milliseconds without a use after which a session may be closed to make room for another. */
const idleMs = 600_000;

const notForked: ReadonlySet<SessionEvent["type"]> = new Set([
  "session-started",
  "change-set-applied",
  "checkpoint-taken",
  "checkpoint-closed",
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

  constructor(services: SessionServices, options: { readonly defaultWorkspace: string | undefined }) {
    this.#services = services;
    this.defaultWorkspace = options.defaultWorkspace;
  }

  get services(): SessionServices {
    return this.#services;
  }

  async start(settings: SessionSettings, workingDir: string): Promise<Session> {
    await this.#refuseWhenFull();
    const directory = workingDir === "" ? this.defaultWorkspace : workingDir;
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
    await this.checkModel(settings);
    return this.#create(workspace.root, settings);
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
    if (head === undefined)
      throw new ServiceError("not_found", "There is no such session.", { hint: "Start one, or list them." });
    // Somebody else may have opened it while we looked: two objects of one session would both write to its log.
    return this.#open.get(sessionId) ?? this.#opened(head);
  }

  list(filter: { readonly workspaceRoot?: string; readonly limit: number }): Promise<readonly SessionHead[]> {
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
    await this.#refuseWhenFull();
    const source = await this.get(sessionId);
    if (throughSeq > source.state.lastSeq) {
      throw new ServiceError("invalid_argument", `The session's last event is ${source.state.lastSeq}.`);
    }
    const through = throughSeq === 0 ? source.state.lastSeq : throughSeq;
    const fork = await this.#create(source.workspace.root, source.settings, {
      forkedFrom: source.id,
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
        if (workspaceRoot === undefined || session.workspace.root === workspaceRoot) await session.announce(event);
      }),
    );
    for (const each of told)
      if (each.status === "rejected" && !(each.reason instanceof ServiceError)) throw each.reason;
  }

  /** Where this server works: its default workspace and those of its open sessions. */
  async workspaceRoots(): Promise<readonly string[]> {
    const open = await Promise.allSettled(this.#open.values());
    const roots = open.flatMap((each) => (each.status === "fulfilled" ? [each.value.workspace.root] : []));
    return [...new Set(this.defaultWorkspace === undefined ? roots : [this.defaultWorkspace, ...roots])];
  }

  /** Closes the sessions nobody uses, least recently opened first; their logs stay, and they open again when asked for. */
  async #closeIdle(): Promise<void> {
    for (const [id, opening] of [...this.#open]) {
      if (this.#open.size < maxOpenSessions) return;
      const session = await opening.catch(() => undefined);
      if (session === undefined || session.isIdleFor(idleMs)) this.#open.delete(id);
    }
  }

  async #refuseWhenFull(): Promise<void> {
    if (this.#open.size >= maxOpenSessions) await this.#closeIdle();
    if (this.#open.size < maxOpenSessions) return;
    throw new ServiceError("resource_exhausted", `This server has its limit of ${maxOpenSessions} sessions open.`, {
      hint: "All of them are in use: end one, or continue one.",
    });
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
    root: string,
    settings: SessionSettings,
    origin: { readonly forkedFrom?: string; readonly inheritedFiles?: readonly FileChangeRecord[] } = {},
  ): Promise<Session> {
    const sessionId = randomUUID();
    const head = await this.#services.log.create({ sessionId, workspaceRoot: root, time: this.#services.now() });
    const session = await this.#opened(head);
    const { sandbox } = this.#services;
    const unsandboxed: SessionEvent = {
      type: "warning",
      text: `Commands run without a sandbox: ${sandbox.reason}. Only commands proven to read run without a question.`,
    };
    await session.writer.commit(
      [
        { type: "session-started", workingDir: root, settings, ...origin },
        ...(sandbox.state === "sandboxed" ? [] : [unsandboxed]),
      ],
      { turnId: "", durable: true },
    );
    return session;
  }

  #opened(head: SessionHead): Promise<Session> {
    const opening = Session.open(this.#services, head);
    this.#open.set(head.sessionId, opening);
    opening.catch(() => this.#open.delete(head.sessionId));
    return opening;
  }
}
