import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { BackgroundRunRecord, SessionEvent } from "@gennai/agent/events/session-event";
import { RememberedAnswers } from "@gennai/governance/gate/confirm/remembered-answers";
import { RunningCalls } from "@gennai/governance/gate/execute/running-calls";
import type { Intent } from "@gennai/governance/intents/intent";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { withMaskedPaths } from "@gennai/machine/redaction/masked-paths";
import { ServiceError } from "@gennai/machine/service-error";
import { knownHead } from "@gennai/machine/workspace/known-head";
import { WorkspaceError } from "@gennai/machine/workspace/paths/workspace-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/editor/client-workspace";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { Todo } from "@gennai/protocol/model/session/todo";
import type { ForgottenSession, SessionHead } from "@gennai/store/log/session-log";
import type { BackgroundRunChange } from "../background/background-run-facts.ts";
import { BackgroundRuns } from "../background/background-runs.ts";
import { ClientRegistry } from "../bridge/client-registry.ts";
import { PendingRequests } from "../bridge/pending-requests.ts";
import { SessionWorkspaceChannel } from "../bridge/workspace-channel.ts";
import { OwnedLog } from "./log/owned-log.ts";
import type { SessionWriter } from "./log/session-writer.ts";
import { QueuedMessages } from "./queued-messages.ts";
import { SessionActs } from "./session-acts.ts";
import type { SessionServices } from "./session-services.ts";
import { LargeOutputs } from "./state/large-outputs.ts";
import { SeenContents } from "./state/seen-contents.ts";
import { SessionState } from "./state/session-state.ts";
import type { OpenRestore } from "./state/work-steps.ts";
import type { TurnPreparation } from "./turns/prepared-turn.ts";
import { ServerLeaves } from "./turns/server-leaves.ts";
import { SessionTurns, type StartedTurn } from "./turns/session-turns.ts";

/** One session: its log, what folds out of it, and the turn it runs. The session owns the turn, no stream does. */
export class Session {
  readonly id: string;
  /** Whose it is; empty on a server with one user. */
  readonly user: string;
  readonly workspace: Workspace;
  readonly clients = new ClientRegistry();
  readonly requests: PendingRequests;
  readonly remembered = new RememberedAnswers();
  readonly seen: SeenContents;
  /** Hosts, with their ports, that wanted a login of a command of this session. */
  readonly wantedLogins = new Set<string>();
  /** Addresses of hosts in the machine's own networks that a login was to go to, by host. */
  readonly privateHosts = new Map<string, string>();
  readonly outputs: LargeOutputs;
  /** What people say to the turn that runs. */
  readonly queuedMessages: QueuedMessages;
  /** Calls of its turn that run now, each of which can be stopped without the turn. */
  readonly runningCalls = new RunningCalls();
  /** What it runs in the background; ends with it. */
  readonly background: BackgroundRuns;
  readonly state: SessionState;
  readonly services: SessionServices;
  readonly acts = new SessionActs();
  readonly #log: OwnedLog;
  readonly #turns: SessionTurns;

  private constructor(
    services: SessionServices,
    workspace: Workspace | ClientWorkspaceFacts,
    head: SessionHead,
    state: SessionState,
  ) {
    this.services = services;
    this.seen = new SeenContents(services.blobs, services.redactor);
    this.outputs = new LargeOutputs(services.blobs);
    this.id = head.sessionId;
    this.user = head.user;
    this.state = state;
    this.#log = new OwnedLog(services, head, state);
    this.#turns = new SessionTurns(this, this.#log);
    this.queuedMessages = new QueuedMessages({
      state,
      writer: () => this.#log.writer,
      catchUp: () => this.catchUp(),
    });
    this.requests = new PendingRequests({
      clients: this.clients,
      log: () => this.#log.writer,
      waitForClientMs: services.confirmation.waitForClientMs,
      now: services.now,
      redactor: services.redactor,
      observer: services.observer,
    });
    this.background = new BackgroundRuns({
      redactor: services.redactor,
      emergency: services.emergency,
      now: services.now,
      startedBefore: () => state.backgroundRuns,
      record: (change) => this.#recordBackground(change),
      onUnexpectedError: (error) => services.onUnexpectedError(error),
    });
    this.workspace = "resolve" in workspace ? workspace : this.#heldByClient(workspace);
  }

  /**
   * Opens a session of the log: folds its events, and ends a turn whose process is gone.
   * @param clientWorkspace of a session that is just begun, when a client holds its files
   */
  static async open(
    services: SessionServices,
    head: SessionHead,
    clientWorkspace?: ClientWorkspaceFacts,
  ): Promise<Session> {
    const state = new SessionState();
    for (;;) {
      const page = await services.log.read(head.sessionId, state.lastSeq, 1000);
      for (const event of page) state.apply(event);
      if (page.length < 1000) break;
    }
    const held = clientWorkspace ?? state.clientWorkspace;
    const workspace = held ?? (await openWorkspaceAgain(services, head));
    const session = new Session(services, workspace, { ...head, lastSeq: state.lastSeq }, state);
    await session.#log.recover();
    return session;
  }

  get settings(): SessionSettings {
    return this.state.settings ?? this.services.defaultSettings;
  }

  get writer(): SessionWriter {
    return this.#log.writer;
  }

  /** Nothing runs, nobody listens, and all is written: the session can be closed and opened again. */
  get isIdle(): boolean {
    return !this.hasTurn && !this.clients.isAttached && this.writer.queued === 0;
  }

  /** A turn runs, or is about to. */
  get hasTurn(): boolean {
    return this.#turns.isBusy;
  }

  get runningTurnId(): string | undefined {
    return this.#turns.runningTurnId;
  }

  /** Starts a turn, once for each `clientTurnId`. Resolves when its start is durable. */
  startOnce(
    clientTurnId: string,
    prepare: TurnPreparation,
  ): Promise<StartedTurn & { readonly alreadyStarted: boolean }> {
    return this.#turns.startOnce(clientTurnId, prepare);
  }

  /**
   * Starts a turn that is not a prompt's, e.g. the run of a plan: one at a time, stopped and recovered like any other.
   * `ended` never rejects.
   */
  startPrepared(prepare: TurnPreparation): Promise<{ readonly turnId: string; readonly ended: Promise<void> }> {
    return this.#turns.start(prepare);
  }

  /**
   * Ends the running turn; resolves when it has ended. Undefined when none ran, or another one than asked for. Unless one is
   * named, starts that are under way and do not come to their end either are given up.
   */
  cancel(reason: string, turnId?: string): Promise<string | undefined> {
    return this.#turns.cancel(reason, turnId);
  }

  /** Ends the running turn because the server ends: a person can go on with it afterwards. */
  leave(): Promise<string | undefined> {
    return this.#turns.leave();
  }

  /** The server ends, and the running turn with it. */
  get isLeaving(): boolean {
    return this.#turns.signal?.reason instanceof ServerLeaves;
  }

  /**
   * Forgets the session for good; nothing can be done with it any more. Rejects with `ServiceError` while a turn runs, or something that a
   * person does to it.
   * @param refuse throws where it may not be, asked when nothing else is under way
   */
  delete(by: string, refuse?: () => void): Promise<ForgottenSession> {
    return this.#turns.instead("delete the session", () =>
      this.acts.last(async () => {
        refuse?.();
        await this.catchUp();
        await this.background.stopAll("the deletion of the session");
        await this.writer.flush();
        refuse?.();
        return this.services.log.forget(this.id, by);
      }),
    );
  }

  /** Throws `ServiceError`. @param what e.g. `change the settings` */
  refuseWhileRunning(what: string): void {
    if (this.runningTurnId === undefined) return;
    throw new ServiceError("failed_precondition", `A turn is running; it must end before you ${what}.`, {
      reason: "turn_running",
      hint: "Wait for its end, or stop it.",
    });
  }

  /**
   * Folds in what another process wrote to the session since, and makes it ours. While a turn runs, the log is ours already.
   * Rejects with `ServiceError` while another process runs a turn of it.
   */
  async catchUp(): Promise<void> {
    if (this.runningTurnId === undefined) await this.#log.takeOverIfBehind();
  }

  /** Folds in what another server wrote to the session since, which stays that server's. */
  async follow(): Promise<void> {
    if (this.runningTurnId === undefined) await this.#log.follow();
  }

  /** Records what a person decided: events and a ledger record in one transaction. */
  async decided(
    events: readonly SessionEvent[],
    kind: LedgerEntry["kind"],
    details: Readonly<Record<string, unknown>>,
    files: readonly FileChangeRecord[] = [],
  ): Promise<void> {
    await this.catchUp();
    const head = knownHead(this.workspace);
    const { activeIntentId } = this.state;
    const entry: LedgerEntry = {
      kind,
      time: this.services.now(),
      sessionId: this.id,
      turnId: "",
      modelId: "",
      revision: (head.type === "none" ? undefined : head.commit) ?? "",
      calls: [],
      files: (await withMaskedPaths(files, this.services.redactor)).map(
        ({ path, operation, beforeSha256, afterSha256 }) => ({
          path,
          operation,
          beforeSha256,
          afterSha256,
          blocks: [],
        }),
      ),
      details: activeIntentId === undefined || files.length === 0 ? details : { ...details, intent: activeIntentId },
    };
    await this.writer.commit(events, { turnId: "", ledger: [entry], durable: true });
  }

  /** A person's choice of the intent the session works under. */
  async selectIntent(intent: Intent, context: string): Promise<void> {
    await this.decided([{ type: "intent-selected", intent, context }], "session", { intent: intent.id });
  }

  async changeSettings(settings: SessionSettings): Promise<void> {
    this.refuseWhileRunning("change the settings");
    await this.#record({ type: "settings-changed", settings });
  }

  async clear(): Promise<void> {
    this.refuseWhileRunning("clear the session");
    await this.catchUp();
    this.remembered.forget();
    this.seen.clear();
    await this.writer.commit([{ type: "session-cleared" }], { turnId: "", durable: true });
  }

  async writeTodos(items: readonly Todo[]): Promise<void> {
    await this.#record({ type: "todos-changed", items });
  }

  /** A title of the user's choice, in place of the one made from the first request. */
  async rename(title: string): Promise<void> {
    const masked = await this.services.redactor.redact(title);
    await this.#record({ type: "session-renamed", title: masked });
    await this.services.log.setTitle(this.id, masked);
  }

  /** Records what a restore is about to write, durably. */
  async announceRestore(restore: OpenRestore): Promise<void> {
    await this.#record({ type: "checkpoint-restoring", ...restore });
  }

  /** That one begins, its call records. */
  async #recordBackground({ what, run, connections = [] }: BackgroundRunChange): Promise<void> {
    const { id, command, end, exitCode, ports } = run;
    const record: BackgroundRunRecord = {
      id,
      command,
      ports,
      ...(end === undefined ? {} : { end }),
      ...(exitCode === undefined ? {} : { exitCode }),
    };
    const event: SessionEvent = { type: "background-run", what, run: record };
    if (what === "started") await this.#record(event);
    else {
      const reached = connections.length === 0 ? {} : { connections };
      await this.decided([event], "session", { background: what, ...record, ...reached });
    }
  }

  /** Adds an event about more than this session. Rejects while another server runs a turn of it: that one adds its own. */
  async announce(event: SessionEvent): Promise<void> {
    // What was agreed to before somebody pulled the brake is asked again.
    if (event.type === "emergency-changed") this.remembered.forget();
    await this.#record(event);
  }

  /** A fork taken in the middle of a turn has that turn's beginning, and will never have its end. */
  async endCopiedTurn(): Promise<void> {
    await this.#log.closeInterrupted();
  }

  /** Writes an event that belongs to no turn; durable when it resolves. */
  async #record(event: SessionEvent): Promise<void> {
    await this.catchUp();
    await this.writer.commit([event], { turnId: "", durable: true });
  }

  #heldByClient(facts: ClientWorkspaceFacts): Workspace {
    const channel = new SessionWorkspaceChannel({
      clients: this.clients,
      requests: this.requests,
      turnId: () => this.runningTurnId ?? "",
      turnSignal: () => this.#turns.signal,
      waitForClientMs: this.services.confirmation.waitForClientMs,
      catchUp: () => this.catchUp(),
      onWaiting: () => this.#waitForClient(),
    });
    return this.services.openClientWorkspace(facts, { sessionId: this.id, user: this.user, channel });
  }

  #waitForClient(): void {
    const turnId = this.runningTurnId;
    if (turnId === undefined) return;
    this.writer.emit({ type: "status", state: "waiting-for-client", iteration: 0 }, { turnId });
  }
}

async function openWorkspaceAgain(services: SessionServices, head: SessionHead): Promise<Workspace> {
  try {
    const workspace = await services.openWorkspace(head.workspaceRoot);
    // A link may stand there by now.
    services.userWorkspaces?.assertOwn(head.user, workspace.root);
    return workspace;
  } catch (cause) {
    if (!(cause instanceof WorkspaceError)) throw cause;
    throw new ServiceError(
      "failed_precondition",
      `The session's workspace cannot be opened any more: ${cause.message}`,
      { cause },
    );
  }
}
